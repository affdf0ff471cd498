#include "engine/dispatch/communicate.h"

namespace shardlab {

Communication start_communication(Worker& worker, const Moved& moved,
                                  const std::function<Pending(Communicator&)>& start) {
  Communication communication;
  communication.communicator = &worker.communicator(moved.axes);
  Trace& trace = worker.trace();
  const std::int64_t received = communication.communicator->bytes_received();
  const double begin = trace.keeping() ? Trace::now_seconds() : 0;
  communication.pending = start(*communication.communicator);
  ++trace.totals().collectives;
  trace.totals().bytes_received += communication.communicator->bytes_received() - received;
  if (!trace.keeping()) return communication;
  Step step;
  step.kind = Step::Kind::start;
  step.lane = worker.comm_lane(moved.axes);
  step.op = moved.name;
  step.dtype = moved.spec.dtype;
  step.scope = current_scope(trace);
  step.shape = moved.spec.shape;
  step.layout = moved.spec.layout;
  step.local = moved.spec.layout->local_shape(moved.spec.shape, worker.coordinates());
  step.bytes = moved.payload_bytes;
  step.live_bytes = worker.backend().ledger().live();
  step.axes = moved.axes;
  step.relative_peer = moved.relative_peer;
  step.sequence = static_cast<std::uint64_t>(communication.communicator->calls());
  step.begin_seconds = begin;
  step.end_seconds = Trace::now_seconds();
  trace.append(step);
  step.kind = Step::Kind::wait;
  step.bytes = 0;
  communication.wait = step;
  return communication;
}

void finish_communication(Worker& worker, Communication& communication) {
  Trace& trace = worker.trace();
  const double begin = trace.keeping() ? Trace::now_seconds() : 0;
  communication.communicator->wait(communication.pending);
  if (!trace.keeping() || communication.wait.kind != Step::Kind::wait) return;
  communication.wait.live_bytes = worker.backend().ledger().live();
  communication.wait.begin_seconds = begin;
  communication.wait.end_seconds = Trace::now_seconds();
  trace.append(communication.wait);
}

}  // namespace shardlab
