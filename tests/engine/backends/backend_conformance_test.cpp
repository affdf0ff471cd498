#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/backends/cpu/cpu.h"
#include "engine/backends/meta/meta.h"
#include "engine/core/error.h"
#include "engine/dispatch/intrinsic.h"
#include "engine/ops/attention.h"
#include "engine/ops/linear.h"
#include "engine/ops/optimizer_step.h"

namespace shardlab {
namespace {

/// What every backend must pass; those without values skip what needs them.
struct Factory {
  const char* name;
  std::function<std::unique_ptr<Backend>()> make;
};

void PrintTo(const Factory& factory, std::ostream* out) { *out << factory.name; }

class BackendConformance : public ::testing::TestWithParam<Factory> {
 protected:
  std::unique_ptr<Backend> backend_ = GetParam().make();

  [[nodiscard]] Ledger& ledger() { return backend_->ledger(); }

  /// A dense tensor; keeps its memory in `buffer`.
  View dense(const Shape& shape, Dtype dtype, Ref<Buffer>& buffer) {
    buffer = backend_->allocate(shape.count() * width_of(dtype), Category::activation);
    return {buffer->data(), shape, dense_strides(shape), dtype};
  }

  View floats(const std::vector<float>& values, Ref<Buffer>& buffer) {
    const View view = dense({static_cast<std::int64_t>(values.size())}, Dtype::float32, buffer);
    backend_->copy_in(view, values.data());
    return view;
  }

  std::vector<float> read(const View& view) {
    std::vector<float> values(static_cast<std::size_t>(view.shape.count()));
    backend_->copy_out(view, values.data());
    return values;
  }

  void run(const Op& op, const std::vector<const View*>& inputs,
           const std::vector<const View*>& outputs, MathMode math = MathMode::exact) {
    Call call;
    call.op = &op;
    call.inputs = inputs;
    call.outputs = outputs;
    call.whole = outputs[0]->shape;
    for (int d = 0; d < call.whole.ndim(); ++d) call.start.push_back(0);
    call.math = math;
    backend_->run(call, Lane{});
  }

  /// The text of the Error{unsupported} that `work` must throw.
  std::string refusal(const std::function<void()>& work) {
    try {
      work();
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::unsupported) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return {};
  }
};

#define SKIP_WITHOUT_VALUES() \
  if (!backend_->has_values()) GTEST_SKIP() << "no values"

TEST_P(BackendConformance, IsNamedAsItsFactory) { EXPECT_STREQ(backend_->name(), GetParam().name); }

TEST_P(BackendConformance, EachCategoryIsChargedInMultiplesOf64AndCreditedAtTheEnd) {
  for (int i = 0; i < category_count; ++i) {
    const auto category = static_cast<Category>(i);
    {
      const Ref<Buffer> one = backend_->allocate(1, category);
      const Ref<Buffer> many = backend_->allocate(100 * 1000 + 1, category);
      const Ref<Buffer> none = backend_->allocate(0, category);
      EXPECT_EQ(ledger().live(category), 64 + 100 * 1000 + 32);
      EXPECT_EQ(ledger().live(), ledger().live(category));
      EXPECT_EQ(one->bytes(), 1);
      EXPECT_EQ(many->category(), category);
    }
    EXPECT_EQ(ledger().live(category), 0);
  }
}

TEST_P(BackendConformance, ThePeakIsTheMostThatWasEverLive) {
  {
    Ref<Buffer> first = backend_->allocate(1000, Category::parameter);
    const Ref<Buffer> second = backend_->allocate(500, Category::activation);
    first = {};
    const Ref<Buffer> third = backend_->allocate(300, Category::activation);
    EXPECT_EQ(ledger().peak(), 1024 + 512);
    EXPECT_EQ(ledger().at_peak(Category::parameter), 1024);
  }
  ledger().reset_peak();
  EXPECT_EQ(ledger().peak(), 0);
}

TEST_P(BackendConformance, ABufferMovesToAnotherCategory) {
  const Ref<Buffer> buffer = backend_->allocate(64, Category::activation);
  buffer->recategorize(Category::gradient);
  EXPECT_EQ(ledger().live(Category::activation), 0);
  EXPECT_EQ(ledger().live(Category::gradient), 64);
}

TEST_P(BackendConformance, ANegativeSizeIsRefusedAndChargesNothing) {
  EXPECT_THROW((void)backend_->allocate(-1, Category::activation), Error);
  EXPECT_EQ(ledger().live(), 0);
}

TEST_P(BackendConformance, ABufferCountsItsChanges) {
  const Ref<Buffer> buffer = backend_->allocate(64, Category::activation);
  EXPECT_EQ(buffer->version(), 0U);
  buffer->changed();
  EXPECT_EQ(buffer->version(), 1U);
}

TEST_P(BackendConformance, MemoryIsAlignedTo64AndBlocksDoNotOverlap) {
  SKIP_WITHOUT_VALUES();
  std::vector<Ref<Buffer>> buffers;
  for (const std::int64_t bytes : {1, 63, 64, 65, 1000, 4095, 4096, 4097, 70000, 3000000})
    for (int copy = 0; copy < 2; ++copy) {
      buffers.push_back(backend_->allocate(bytes, Category::activation));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffers.back()->data()) % 64, 0U) << bytes;
      const std::vector<std::uint8_t> fill(static_cast<std::size_t>(bytes),
                                           static_cast<std::uint8_t>(buffers.size()));
      backend_->copy_in({buffers.back()->data(), {bytes / 2}, {1}, Dtype::bfloat16}, fill.data());
    }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::int64_t count = buffers[i]->bytes() / 2;
    std::vector<std::uint16_t> read(static_cast<std::size_t>(count));
    backend_->copy_out({buffers[i]->data(), {count}, {1}, Dtype::bfloat16}, read.data());
    for (const std::uint16_t value : read) ASSERT_EQ(value, 257 * (i + 1)) << "block " << i;
  }
}

TEST_P(BackendConformance, WhatIsCopiedInComesOut) {
  SKIP_WITHOUT_VALUES();
  Ref<Buffer> buffer;
  for (const std::vector<float>& values :
       {std::vector<float>{}, std::vector<float>{1.5F}, std::vector<float>(1000, -2)})
    EXPECT_EQ(read(floats(values, buffer)), values);
}

TEST_P(BackendConformance, ValuesOfMetaCannotBeRead) {
  if (backend_->has_values()) GTEST_SKIP() << "has values";
  Ref<Buffer> buffer;
  const View view = dense({2}, Dtype::float32, buffer);
  float host[2];
  EXPECT_NE(refusal([&] { backend_->copy_out(view, host); }).find("values"), std::string::npos);
}

TEST_P(BackendConformance, OpsRunInOrder) {
  Ref<Buffer> memory[3];
  const View a = floats({1, 2, 3}, memory[0]);
  const View b = floats({10, 20, 30}, memory[1]);
  const View sum = dense({3}, Dtype::float32, memory[2]);
  run(Add(), {&a, &b}, {&sum});
  run(Add(), {&sum, &a}, {&b});
  backend_->synchronize();
  if (!backend_->has_values()) return;
  EXPECT_EQ(read(b), (std::vector<float>{12, 24, 36}));
}

TEST_P(BackendConformance, AnUpdateChangesItsOperandInPlace) {
  SKIP_WITHOUT_VALUES();
  Ref<Buffer> memory[3];
  const View parameter = floats({1, 2}, memory[0]);
  const View gradient = floats({10, -10}, memory[1]);
  const View momentum = floats({0, 0}, memory[2]);
  run(Sgd({0.5}, 1), {&parameter, &gradient, &momentum}, {&parameter, &momentum});
  EXPECT_EQ(read(parameter), (std::vector<float>{-4, 7}));
  EXPECT_EQ(read(momentum), (std::vector<float>{10, -10}));
}

TEST_P(BackendConformance, AStridedInputIsReadWhereItLies) {
  SKIP_WITHOUT_VALUES();
  Ref<Buffer> memory[2];
  View x = floats({1, 2, 3, 4, 5, 6}, memory[0]);
  x.shape = {3, 2};
  x.strides = {1, 3};
  const View y = dense({3, 2}, Dtype::float32, memory[1]);
  run(Copy(), {&x}, {&y});
  EXPECT_EQ(read(y), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST_P(BackendConformance, RunningAKernelLeavesTheLedgerAlone) {
  Ref<Buffer> memory[3];
  const View x = dense({64, 300}, Dtype::float32, memory[0]);
  const View w = dense({200, 300}, Dtype::float32, memory[1]);
  const View y = dense({64, 200}, Dtype::float32, memory[2]);
  const std::int64_t live = ledger().live();
  ledger().reset_peak();
  run(Linear(false), {&x, &w}, {&y});
  EXPECT_EQ(ledger().live(), live);
  EXPECT_EQ(ledger().peak(), live);
}

/// An op that no backend knows.
class Unknown final : public Op {
 public:
  [[nodiscard]] const char* name() const override { return "frobnicate"; }
};

TEST_P(BackendConformance, AnOpWithoutAKernelIsRefusedByNameAndDtype) {
  SKIP_WITHOUT_VALUES();
  Ref<Buffer> buffer;
  const View x = floats({1}, buffer);
  const std::string text = refusal([&] { run(Unknown(), {&x}, {&x}); });
  EXPECT_EQ(text, std::string(backend_->name()) + ": no kernel for frobnicate on float32");
}

TEST_P(BackendConformance, ADtypeWithoutAKernelIsRefusedByNameAndDtype) {
  SKIP_WITHOUT_VALUES();
  Ref<Buffer> buffer;
  const View x = dense({3}, Dtype::int64, buffer);
  const std::string text = refusal([&] { run(AdamW({}, 1), {&x, &x, &x, &x}, {&x, &x, &x}); });
  EXPECT_NE(text.find("adamw on int64"), std::string::npos) << text;
}

TEST_P(BackendConformance, AttentionStaysInsideTheWorkspaceOfItsFormula) {
  SKIP_WITHOUT_VALUES();
  for (const Shape& q_shape : {Shape{1, 3, 2, 5}, Shape{1, 200, 1, 64}, Shape{2, 97, 3, 20}}) {
    Ref<Buffer> memory[8];
    const Shape rows{q_shape[0], q_shape[1], q_shape[2]};
    const View q = dense(q_shape, Dtype::float32, memory[0]);
    const View lse = dense(rows, Dtype::float32, memory[1]);
    const View out = dense(q_shape, Dtype::float32, memory[2]);
    const std::vector<float> zeros(static_cast<std::size_t>(q_shape.count()));
    backend_->copy_in(q, zeros.data());
    const Attention op(0.5);
    const std::vector<const View*> inputs{&q, &q, &q};
    const std::vector<const View*> outputs{&out, &lse};
    const std::int64_t bytes = op.workspace_bytes(inputs, outputs);
    const std::int64_t guard = 4096;
    const Ref<Buffer> space = backend_->allocate(bytes + guard, Category::workspace);
    const std::vector<std::uint16_t> pattern(static_cast<std::size_t>(guard / 2), 0xabcd);
    const View behind{
        static_cast<std::byte*>(space->data()) + bytes, {guard / 2}, {1}, Dtype::bfloat16};
    backend_->copy_in(behind, pattern.data());
    Call call;
    call.op = &op;
    call.inputs = inputs;
    call.outputs = outputs;
    call.workspace = space->data();
    backend_->run(call, Lane{});
    std::vector<std::uint16_t> after(pattern.size());
    backend_->copy_out(behind, after.data());
    EXPECT_EQ(after, pattern) << to_string(q_shape);
    EXPECT_EQ(read(out), zeros);
  }
}

TEST_P(BackendConformance, LanesCanBeMarkedAndWaitedFor) {
  const Lane comm{Lane::Kind::comm, 1};
  const Event event = backend_->record(comm);
  EXPECT_EQ(event.lane, comm);
  backend_->wait(Lane{}, event);
  backend_->synchronize();
}

TEST_P(BackendConformance, OneBackendAThreadNeedsNoLock) {
  SKIP_WITHOUT_VALUES();
  std::vector<std::vector<float>> sums(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < sums.size(); ++t)
    threads.emplace_back([&, t] {
      const std::unique_ptr<Backend> own = GetParam().make();
      for (int repeat = 0; repeat < 50; ++repeat) {
        const Shape shape{40, 40};
        const Ref<Buffer> memory = own->allocate(3 * 1600 * 4, Category::activation);
        auto* data = static_cast<float*>(memory->data());
        const View x{data, shape, dense_strides(shape), Dtype::float32};
        const View y{data + 3200, shape, dense_strides(shape), Dtype::float32};
        const std::vector<float> values(1600, static_cast<float>(t));
        own->copy_in(x, values.data());
        const Linear op(false);
        const View* in[2] = {&x, &x};
        const View* out[1] = {&y};
        Call call;
        call.op = &op;
        call.inputs = in;
        call.outputs = out;
        own->run(call, Lane{});
        sums[t].resize(1600);
        own->copy_out(y, sums[t].data());
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < sums.size(); ++t)
    EXPECT_EQ(sums[t], std::vector<float>(1600, 40 * static_cast<float>(t * t)));
}

INSTANTIATE_TEST_SUITE_P(
    All, BackendConformance,
    ::testing::Values(Factory{"cpu", [] { return std::make_unique<CpuBackend>(); }},
                      Factory{"meta", [] { return std::make_unique<MetaBackend>(); }}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace shardlab
