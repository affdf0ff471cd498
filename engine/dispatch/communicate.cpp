#include "engine/dispatch/communicate.h"

namespace shardlab {

Communication start_communication(Worker& worker, const Moved& moved,
                                  const std::function<Pending(Communicator&)>& start) {
  Communicator& communicator = worker.communicator(moved.axes);
  Trace& trace = worker.trace();
  const std::int64_t received = communicator.bytes_received();
  const double begin = trace.keeping() ? Trace::now_seconds() : 0;
  Communication communication(communicator, start(communicator));
  ++trace.totals().collectives;
  trace.totals().bytes_received += communicator.bytes_received() - received;
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
  step.sequence = trace.next_call(moved.axes);
  step.begin_seconds = begin;
  step.end_seconds = Trace::now_seconds();
  trace.append(step);
  step.kind = Step::Kind::wait;
  step.bytes = 0;
  communication.wait_ = step;
  return communication;
}

void finish_communication(Worker& worker, Communication& communication) {
  Trace& trace = worker.trace();
  const double begin = trace.keeping() ? Trace::now_seconds() : 0;
  std::exchange(communication.communicator_, nullptr)->wait(communication.pending_);
  if (!trace.keeping() || !communication.wait_) return;
  Step& wait = *communication.wait_;
  wait.live_bytes = worker.backend().ledger().live();
  wait.begin_seconds = begin;
  wait.end_seconds = Trace::now_seconds();
  trace.append(wait);
}

}  // namespace shardlab
