#include <random>

#include "tests/engine/comm/ranks.h"

namespace shardlab::test {
namespace {

using Random = std::mt19937_64;

int below(Random& random, int limit) {
  return std::uniform_int_distribution<int>(0, limit - 1)(random);
}

// A communicator of the random program and the ranks of its members.
struct Group {
  std::unique_ptr<Communicator> communicator;
  std::vector<int> ranks;
};

// A started call, its memory and what it must hold in the end.
struct Call {
  Communicator* communicator = nullptr;
  Pending pending;
  std::vector<std::vector<float>> in;
  std::vector<std::vector<float>> out;
  std::vector<std::vector<float>> expected;
};

// Often small, sometimes nothing, rarely large.
std::int64_t random_count(Random& random) {
  constexpr int limits[] = {1, 4, 40, 40, 400, 5000};
  return below(random, limits[below(random, 6)]);
}

std::vector<std::int64_t> random_counts(Random& random, int size) {
  std::vector<std::int64_t> counts(size);
  for (std::int64_t& count : counts) count = random_count(random);
  return counts;
}

void start_all_reduce(Random& random, const Group& group, std::int64_t first, Call& call) {
  const std::int64_t count = random_count(random);
  const Reduction reduction = below(random, 2) == 0 ? Reduction::sum : Reduction::max;
  const bool in_place = below(random, 2) == 0;
  const int rank = group.ranks[group.communicator->position()];
  call.in.push_back(values_of<float>(rank, count, first));
  call.out.push_back(call.in[0]);
  call.expected.push_back(reduced_of<float>(group.ranks, count, reduction, first));
  call.pending = group.communicator->all_reduce(block_of(in_place ? call.out[0] : call.in[0]),
                                                block_of(call.out[0]), reduction);
}

void start_all_gather(Random& random, const Group& group, std::int64_t first, Call& call) {
  const std::vector<std::int64_t> counts = random_counts(random, group.communicator->size());
  const int me = group.communicator->position();
  call.in.push_back(values_of<float>(group.ranks[me], counts[me], first));
  call.out.emplace_back(total_of(counts));
  call.expected.emplace_back();
  for (std::size_t p = 0; p < counts.size(); ++p)
    for (const float value : values_of<float>(group.ranks[p], counts[p], first))
      call.expected[0].push_back(value);
  call.pending =
      group.communicator->all_gather(block_of(call.in[0]), block_of(call.out[0]), counts);
}

void start_reduce_scatter(Random& random, const Group& group, std::int64_t first, Call& call) {
  const std::vector<std::int64_t> counts = random_counts(random, group.communicator->size());
  const int me = group.communicator->position();
  call.in.push_back(values_of<float>(group.ranks[me], total_of(counts), first));
  call.out.emplace_back(counts[me]);
  const auto begin = std::accumulate(counts.begin(), counts.begin() + me, first);
  call.expected.push_back(reduced_of<float>(group.ranks, counts[me], Reduction::sum, begin));
  call.pending = group.communicator->reduce_scatter(block_of(call.in[0]), block_of(call.out[0]),
                                                    counts, Reduction::sum);
}

void start_all_to_all(Random& random, const Group& group, std::int64_t first, Call& call) {
  const int size = group.communicator->size();
  const int me = group.communicator->position();
  std::vector<std::int64_t> sent(size);
  std::vector<std::int64_t> received(size);
  call.in.emplace_back();
  call.expected.emplace_back();
  for (int from = 0; from < size; ++from)
    for (int to = 0; to < size; ++to) {
      const std::int64_t count = random_count(random);
      if (from == me) sent[to] = count;
      if (to == me) received[from] = count;
      const std::vector<float> run = values_of<float>(group.ranks[from], count, first + to);
      if (from == me) call.in[0].insert(call.in[0].end(), run.begin(), run.end());
      if (to == me) call.expected[0].insert(call.expected[0].end(), run.begin(), run.end());
    }
  call.out.emplace_back(call.expected[0].size());
  call.pending =
      group.communicator->all_to_all(block_of(call.in[0]), sent, block_of(call.out[0]), received);
}

void start_exchange(Random& random, const Group& group, std::int64_t first, Call& call) {
  const int size = group.communicator->size();
  const int me = group.communicator->position();
  std::vector<int> to;
  std::vector<int> from;
  for (int message = below(random, 2 * size); message > 0; --message) {
    const int sender = below(random, size);
    const int receiver = below(random, size);
    const std::int64_t count = random_count(random);
    std::vector<float> values = values_of<float>(group.ranks[sender], count, first + message);
    if (receiver == me) {
      from.push_back(sender);
      call.out.emplace_back(count);
      call.expected.push_back(values);
    }
    if (sender == me) {
      to.push_back(receiver);
      call.in.push_back(std::move(values));
    }
  }
  std::vector<Message> sends;
  std::vector<Message> receives;
  for (std::size_t i = 0; i < to.size(); ++i) sends.push_back({to[i], block_of(call.in[i])});
  for (std::size_t i = 0; i < from.size(); ++i)
    receives.push_back({from[i], block_of(call.out[i])});
  call.pending = group.communicator->exchange(sends, receives);
}

class Stress : public OnRanks {};

TEST_P(Stress, AThousandRandomCallsOnThreeGroupsGiveWhatTheyMust) {
  std::vector<Mesh::Axis> names;
  if (size() % 2 == 0) names.push_back({"data", 2});
  names.push_back({"domain", size() % 2 == 0 ? size() / 2 : size()});
  const Mesh mesh(names);
  execution().run(mesh, [&](Network& network, int rank) {
    std::vector<Group> groups;
    const std::vector<AxisList> axes =
        mesh.ndim() == 2 ? std::vector<AxisList>{{0}, {1}, {1, 0}} : std::vector<AxisList>{{0}};
    for (const AxisList& list : axes) {
      const Coordinates at = mesh.coordinates(rank);
      Group group{network.open(mesh, list, at), {}};
      for (int p = 0; p < mesh.size(list); ++p)
        group.ranks.push_back(mesh.rank(mesh.member(list, at, p)));
      groups.push_back(std::move(group));
    }
    // What is called is the same on all ranks of a group, when it is waited for is not.
    Random program(2024);
    Random order(rank);
    std::vector<std::unique_ptr<Call>> pending;
    const auto finish_one = [&] {
      const int chosen = below(order, static_cast<int>(pending.size()));
      const std::unique_ptr<Call> call = std::move(pending[chosen]);
      pending.erase(pending.begin() + chosen);
      call->communicator->wait(call->pending);
      EXPECT_EQ(call->out, call->expected) << "call " << call->pending.number;
    };
    for (int number = 0; number < 1000; ++number) {
      const int chosen = below(program, static_cast<int>(groups.size()));
      const int kind = below(program, 6);
      Random details(number);
      const Group& group = groups[chosen];
      if (kind == 5) {
        group.communicator->barrier();
        continue;
      }
      auto call = std::make_unique<Call>();
      call->communicator = group.communicator.get();
      constexpr decltype(&start_exchange) starts[] = {start_all_reduce, start_all_gather,
                                                      start_reduce_scatter, start_all_to_all,
                                                      start_exchange};
      starts[kind](details, group, number, *call);
      pending.push_back(std::move(call));
      while (pending.size() > static_cast<std::size_t>(below(order, 12))) finish_one();
    }
    while (!pending.empty()) finish_one();
    for (const Group& group : groups)
      EXPECT_EQ(execution().moved_bytes(*group.communicator), group.communicator->bytes_received());
  });
}

INSTANTIATE_TEST_SUITE_P(Every, Stress,
                         testing::Combine(testing::ValuesIn(executions()),
                                          testing::Values(1, 2, 3, 4, 8)),
                         name_of_ranks);

}  // namespace
}  // namespace shardlab::test
