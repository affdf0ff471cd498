#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/backends/cpu/cpu.h"
#include "engine/backends/cpu/kernels.h"
#include "engine/core/error.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/linear.h"
#include "engine/ops/matmul.h"
#include "engine/ops/softmax.h"

namespace shardlab::cpu {
namespace {

TEST(CpuKernelTable, EachOpHasOneRow) {
  std::set<std::string> names;
  for (const KernelRow& row : kernel_table())
    EXPECT_TRUE(names.insert(row.op).second) << row.op << " has two rows";
}

TEST(CpuKernelTable, EveryFunctionHasItsValueAndTwoDerivatives) {
  std::set<std::string> names;
  for (const KernelRow& row : kernel_table()) names.insert(row.op);
  for (int f = 0; f < function_count; ++f) {
    const auto function = static_cast<Function>(f);
    EXPECT_EQ(names.count(Unary(function).name()), 1U) << name_of(function);
    EXPECT_EQ(names.count(UnaryGradient(function, 1).name()), 1U) << name_of(function);
    EXPECT_EQ(names.count(UnaryGradient(function, 2).name()), 1U) << name_of(function);
  }
}

/// One float of each kind of op, run by one backend.
class OneFloat {
 public:
  float run(const Op& op, const std::vector<float>& inputs, MathMode math = MathMode::exact) {
    const Shape shape{1, 1};
    std::vector<float> values = inputs;
    std::vector<View> views;
    std::vector<const View*> in;
    for (float& value : values)
      views.push_back({&value, shape, dense_strides(shape), Dtype::float32});
    for (const View& view : views) in.push_back(&view);
    float result = 0;
    const View out{&result, shape, dense_strides(shape), Dtype::float32};
    const View* outputs[1] = {&out};
    Call call;
    call.op = &op;
    call.inputs = in;
    call.outputs = outputs;
    call.math = math;
    backend_.run(call, Lane{});
    return result;
  }

 private:
  CpuBackend backend_;
};

/// An op whose name is written over.
class Renamed final : public Op {
 public:
  explicit Renamed(const char* name) : name_(name) {}
  [[nodiscard]] const char* name() const override { return name_; }

 private:
  const char* name_;
};

TEST(CpuBackendRun, AnotherNameAtTheSameAddressFindsItsOwnKernel) {
  OneFloat one;
  char name[16] = "multiply";
  const Renamed op(name);
  EXPECT_EQ(one.run(op, {6, 3}), 18);
  std::strcpy(name, "divide");
  EXPECT_EQ(one.run(op, {6, 3}), 2);
}

TEST(CpuBackendRun, OpsThatAlternateKeepTheirOwnKernels) {
  OneFloat one;
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_EQ(one.run(Add(), {2, 3}), 5);
    EXPECT_EQ(one.run(Binary(Binary::Kind::subtract), {2, 3}), -1);
    EXPECT_EQ(one.run(Binary(Binary::Kind::multiply), {2, 3}), 6);
    EXPECT_EQ(one.run(Binary(Binary::Kind::divide), {6, 3}), 2);
    EXPECT_EQ(one.run(Scale(4), {2}), 8);
    EXPECT_EQ(one.run(Shift(4), {2}), 6);
    EXPECT_EQ(one.run(Unary(Function::relu), {-2}), 0);
    EXPECT_EQ(one.run(UnaryGradient(Function::relu, 1), {5, 2}), 5);
    EXPECT_EQ(one.run(Softmax(0, false), {7}), 1);
    EXPECT_EQ(one.run(Softmax(0, true), {7}), 0);
    EXPECT_EQ(one.run(Linear(false), {2, 3}), 6);
  }
}

/// An op that is known by its name alone.
class Named final : public Op {
 public:
  explicit Named(const char* name) : name_(name) {}
  [[nodiscard]] const char* name() const override { return name_; }

 private:
  const char* name_;
};

TEST(CpuBackendRun, NamesAtAddressesThatCollideKeepTheirOwnKernels) {
  constexpr std::size_t apart = 65536;
  std::vector<char> memory(3 * apart);
  const char* const names[] = {"add", "copy", "multiply"};
  for (std::size_t i = 0; i < 3; ++i) std::strcpy(&memory[i * apart], names[i]);
  OneFloat one;
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_EQ(one.run(Named(&memory[0]), {2, 5}), 7);
    EXPECT_EQ(one.run(Named(&memory[apart]), {2}), 2);
    EXPECT_EQ(one.run(Named(&memory[2 * apart]), {2, 5}), 10);
  }
}

TEST(CpuBackendRun, Tf32IsRefusedForProductsAloneAndByName) {
  OneFloat one;
  const Linear linear(false);
  const Matmul matmul;
  const OuterSum outer_sum;
  for (const Op* op : {static_cast<const Op*>(&linear), static_cast<const Op*>(&matmul),
                       static_cast<const Op*>(&outer_sum)})
    try {
      one.run(*op, {2, 3}, MathMode::tf32);
      FAIL() << op->name() << " was computed";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::unsupported);
      const std::string text = error.what();
      EXPECT_NE(text.find(std::string("cpu: ") + op->name() + " in tf32"), std::string::npos)
          << text;
    }
  EXPECT_EQ(one.run(Add(), {2, 3}, MathMode::tf32), 5);
}

TEST(CpuBackendMemory, TheAllocatorAgreesWithTheLedger) {
  CpuBackend backend;
  std::mt19937_64 random(2);
  std::vector<Ref<Buffer>> buffers;
  for (int round = 0; round < 2000; ++round) {
    if (random() % 2 == 0 && !buffers.empty())
      buffers.erase(buffers.begin() + static_cast<std::ptrdiff_t>(random() % buffers.size()));
    else
      buffers.push_back(backend.allocate(static_cast<std::int64_t>(random() % 100000),
                                         static_cast<Category>(random() % 6)));
    ASSERT_EQ(backend.stats().live, backend.ledger().live());
    ASSERT_EQ(backend.stats().peak, backend.ledger().peak());
  }
  buffers.clear();
  EXPECT_EQ(backend.stats().live, 0);
}

TEST(CpuBackendMemory, AProductTakesLibraryMemoryOnly) {
  CpuBackend backend;
  const Shape shape{300, 300};
  const std::int64_t bytes = shape.count() * 8;
  std::vector<Ref<Buffer>> memory;
  std::vector<View> views;
  for (int i = 0; i < 3; ++i) {
    memory.push_back(backend.allocate(bytes, Category::activation));
    std::memset(memory.back()->data(), 0, static_cast<std::size_t>(bytes));
    views.push_back({memory.back()->data(), shape, dense_strides(shape), Dtype::float64});
  }
  const Linear op(false);
  const View* in[2] = {&views[0], &views[1]};
  const View* out[1] = {&views[2]};
  Call call;
  call.op = &op;
  call.inputs = in;
  call.outputs = out;
  const std::int64_t live = backend.stats().live;
  backend.run(call, Lane{});
  EXPECT_EQ(backend.stats().live, live);
  EXPECT_EQ(backend.stats().peak, live);
  EXPECT_GT(backend.stats().library_peak, 0);
}

}  // namespace
}  // namespace shardlab::cpu
