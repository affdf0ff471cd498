#include "engine/comm/thread/communicator.h"

#include <algorithm>
#include <iterator>

#include "engine/comm/thread/move.h"
#include "engine/comm/thread/reduce.h"
#include "engine/core/check.h"

namespace shardlab {

using thread::Kind;
using thread::Post;
using thread::Presence;

namespace {

void set_peers(std::vector<int>& peers, std::span<const Message> messages) {
  peers.clear();
  for (const Message& message : messages) peers.push_back(message.peer);
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
}

void check_reduces(const char* call, Dtype dtype, Reduction reduction) {
  if (!thread::reduces(dtype))
    fail(Fault::unsupported, "{} ({}) of {} between rank threads", call, name_of(reduction),
         name_of(dtype));
}

}  // namespace

ThreadCommunicator::ThreadCommunicator(thread::Crew& crew, thread::Group& group, int position)
    : crew_(crew), group_(group), position_(position) {
  crew_.seat(rank()).open.push_back(this);
}

ThreadCommunicator::~ThreadCommunicator() {
  if (!started_.empty()) crew_.withdraw(rank());
  std::erase(crew_.seat(rank()).open, this);
}

std::int64_t ThreadCommunicator::copied_bytes() const {
  return read_bytes_ + static_cast<std::int64_t>(group_.written(position_).load());
}

Pending ThreadCommunicator::do_all_reduce(Block in, Block out, Reduction reduction) {
  check_reduces("all-reduce", in.dtype, reduction);
  Post& post = open_post();
  post.kind = Kind::all_reduce;
  post.in = in;
  post.out = out;
  post.reduction = reduction;
  return publish();
}

Pending ThreadCommunicator::do_all_gather(Block in, Block out, Counts counts) {
  Post& post = open_post();
  post.kind = Kind::all_gather;
  post.in = in;
  post.out = out;
  post.counts.assign(counts.begin(), counts.end());
  return publish();
}

Pending ThreadCommunicator::do_reduce_scatter(Block in, Block out, Counts counts,
                                              Reduction reduction) {
  check_reduces("reduce-scatter", in.dtype, reduction);
  Post& post = open_post();
  post.kind = Kind::reduce_scatter;
  post.in = in;
  post.out = out;
  post.counts.assign(counts.begin(), counts.end());
  post.reduction = reduction;
  return publish();
}

Pending ThreadCommunicator::do_all_to_all(Block in, Counts sent, Block out, Counts received) {
  Post& post = open_post();
  post.kind = Kind::all_to_all;
  post.in = in;
  post.out = out;
  post.counts.assign(sent.begin(), sent.end());
  post.received.assign(received.begin(), received.end());
  return publish();
}

Pending ThreadCommunicator::do_exchange(std::span<const Message> sends,
                                        std::span<const Message> receives) {
  Post& post = open_post();
  post.kind = Kind::exchange;
  post.sends.assign(sends.begin(), sends.end());
  post.receives.assign(receives.begin(), receives.end());
  set_peers(post.sources, receives);
  set_peers(post.takers, sends);
  post.peers.clear();
  std::set_union(post.sources.begin(), post.sources.end(), post.takers.begin(), post.takers.end(),
                 std::back_inserter(post.peers));
  return publish();
}

void ThreadCommunicator::barrier() {
  open_post().kind = Kind::barrier;
  do_wait(publish());
}

void ThreadCommunicator::withdraw() noexcept { crew_.withdraw(rank()); }

void ThreadCommunicator::abort(const std::string& text) {
  crew_.abort(fmt::format("rank {}: {}", rank(), text));
}

void ThreadCommunicator::do_wait(Pending pending) {
  const auto call = std::find_if(started_.begin(), started_.end(), [&](const Started& started) {
    return started.number == pending.number;
  });
  expect(call != started_.end(), "call {} on {} was not started or is waited for twice",
         pending.number, group_.axes());
  hold_until_free(pending.number, [&] { return advance(*call); });
  check_agreed(*call);
  started_.erase(call);
}

void ThreadCommunicator::check_agreed(const Started& call) const {
  if (call.difference.empty()) return;
  // Where messages to one peer differ, another may still be reading a block of this rank.
  crew_.withdraw(rank());
  fail(Fault::invalid, "call {} on {}: {}", call.number, group_.axes(), call.difference);
}

Post& ThreadCommunicator::open_post() {
  if (last_ >= thread::Group::depth) make_room(last_ + 1 - thread::Group::depth);
  ++last_;
  return group_.posts(last_)[position_];
}

Pending ThreadCommunicator::publish() {
  group_.started(position_).store(last_);
  started_.emplace_back().number = last_;
  ring_others();
  return {last_};
}

void ThreadCommunicator::make_room(std::uint64_t old_call) {
  hold_until_free(old_call, [&] {
    for (Started& call : started_)
      if (call.number == old_call) {
        if (const int position = advance(call); position >= 0) return position;
        check_agreed(call);
      }
    for (const int position : group_.everyone())
      if (group_.finished(old_call, position).load() < old_call) return position;
    return -1;
  });
}

ThreadCommunicator::Roles ThreadCommunicator::roles(const Post& post) const {
  const std::span<const int> everyone = group_.everyone();
  if (post.kind == Kind::exchange) return {post.peers, post.sources, post.takers};
  if (post.kind == Kind::barrier) return {everyone, {}, {}};
  return {everyone, everyone, everyone};
}

int ThreadCommunicator::advance(Started& call) {
  if (call.stage == Stage::over) return -1;
  const std::span<const Post> posts = group_.posts(call.number);
  const Post& mine = posts[position_];
  const auto [peers, lenders, takers] = roles(mine);
  if (call.stage == Stage::published) {
    for (; call.seen < peers.size(); ++call.seen)
      if (group_.started(peers[call.seen]).load() < call.number) return peers[call.seen];
    call.difference = mine.kind == Kind::exchange
                          ? difference_in_messages(posts, group_.ranks(), position_)
                          : thread::difference(posts, group_.ranks());
    if (!call.difference.empty()) {
      call.stage = Stage::over;
      return -1;
    }
    if (const int withdrawn = do_part(call, lenders); withdrawn >= 0) return withdrawn;
    group_.finished(call.number, position_).store(call.number);
    ring_others();
    call.stage = Stage::moved;
    call.seen = 0;
  }
  for (; call.seen < takers.size(); ++call.seen)
    if (group_.finished(call.number, takers[call.seen]).load() < call.number)
      return takers[call.seen];
  call.stage = Stage::over;
  return -1;
}

bool ThreadCommunicator::advance_all() {
  bool progress = false;
  for (ThreadCommunicator* communicator : crew_.seat(rank()).open)
    for (Started& call : communicator->started_) {
      const Stage before = call.stage;
      communicator->advance(call);
      progress = progress || call.stage != before;
    }
  return progress;
}

int ThreadCommunicator::do_part(const Started& call, std::span<const int> lenders) {
  const thread::Touch touch(crew_, rank());
  for (const int member : lenders)
    if (crew_.seat(group_.ranks()[member]).presence.load() != Presence::present) return member;
  const thread::Traffic traffic = thread::move(group_.posts(call.number), position_);
  read_bytes_ += traffic.read;
  if (traffic.written > 0)
    for (const int member : lenders)
      if (member != position_) group_.written(member).fetch_add(traffic.written);
  return -1;
}

template <typename HeldBy>
void ThreadCommunicator::hold_until_free(std::uint64_t number, HeldBy held_by) {
  int position = held_by();
  if (position < 0) return;
  thread::Patience patience(crew_.seat(rank()).bell, crew_.manners(), crew_.deadline());
  while (true) {
    // Asked first: what others did before they ended still counts.
    const bool ended = hopeless(position);
    const bool in_time = ended || patience.pass();
    const bool progress = advance_all();
    const int now = held_by();
    if (now < 0) return;
    if (progress || now != position) {
      patience.renew();
      position = now;
    } else if (!in_time || ended) {
      give_up(number, position, in_time);
    }
  }
}

bool ThreadCommunicator::hopeless(int position) const {
  return crew_.aborted() || crew_.seat(rank()).presence.load() != Presence::present ||
         crew_.seat(group_.ranks()[position]).presence.load() == Presence::left;
}

void ThreadCommunicator::give_up(std::uint64_t number, int position, bool in_time) const {
  const bool failed_before = crew_.seat(rank()).presence.load() != Presence::present;
  crew_.withdraw(rank());
  const std::string call = fmt::format("call {} ({}) on {}", number,
                                       to_string(group_.posts(number)[position_]), group_.axes());
  const int other = group_.ranks()[position];
  if (crew_.aborted()) fail(Fault::external, "{}: {}", call, crew_.reason());
  if (!in_time)
    fail(Fault::external, "{}: rank {} waited {} s for rank {}, which started {} calls", call,
         rank(), std::chrono::duration<double>(crew_.deadline()).count(), other,
         group_.started(position).load());
  if (failed_before) fail(Fault::external, "{}: rank {} goes on after it failed", call, rank());
  fail(Fault::external, "{}: rank {} waits for rank {}, which ended its program", call, rank(),
       other);
}

void ThreadCommunicator::ring_others() {
  for (const int rank : group_.ranks())
    if (rank != this->rank()) crew_.seat(rank).bell.ring();
}

}  // namespace shardlab
