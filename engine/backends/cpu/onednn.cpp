#include "engine/backends/cpu/onednn.h"

#include <fmt/format.h>
#include <omp.h>

#include <oneapi/dnnl/dnnl_debug.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <vector>

#include "engine/core/check.h"

namespace shardlab::cpu {
namespace {

// A program whose shapes never repeat must not keep them all.
constexpr std::size_t products_kept = 1024;

/// Shape and form of a product: what a primitive is made for.
struct Form {
  std::int64_t m, n, k;
  std::array<std::int64_t, 2> a_strides, b_strides;
  std::int64_t out_stride;
  bool bias, accumulate;

  bool operator==(const Form&) const = default;
};

struct FormHash {
  std::size_t operator()(const Form& form) const {
    std::uint64_t hash = (form.bias ? 2 : 0) + (form.accumulate ? 1 : 0);
    for (const std::int64_t value : {form.m, form.n, form.k, form.a_strides[0], form.a_strides[1],
                                     form.b_strides[0], form.b_strides[1], form.out_stride})
      hash = (std::rotl(hash, 23) ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
  }
};

/// A primitive with the objects that every execution needs. The list of arguments holds handles of
/// the memory objects beside it.
struct Execution {
  dnnl::primitive primitive;
  dnnl::memory scratchpad;
  std::vector<dnnl_exec_arg_t> arguments;
};

struct Product {
  dnnl::memory a, b, bias, out, packed;
  Execution multiply, pack;
  std::int64_t packed_bytes = 0;
  std::int64_t scratchpad_bytes = 0;
};

constexpr std::int64_t lines(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + 63) / 64 * 64);
}

/// Whether b is first copied into the order that the library likes best.
///
/// Measured with 2.6.3 and its AVX-512 kernels. Those that read rows of b in place fall to a half
/// or less where rows are 12, 20 or 24 KiB apart, and to 0.75 at other distances above 8 KiB; where
/// the distance is a power of two the library itself copies. Elsewhere a copy gains up to a tenth
/// for deep products. Copying costs as much as multiplying some 30 rows. The order of the sums, and
/// so every bit of the result, is the same either way.
bool packing_pays(const Form& form) {
  if (form.b_strides[1] != 1) return false;
  const std::uint64_t bytes = static_cast<std::uint64_t>(form.b_strides[0]) * sizeof(float);
  if (bytes > 8192 && !std::has_single_bit(bytes)) return form.m >= (bytes % 4096 == 0 ? 64 : 256);
  return form.m >= 1024 && form.k >= 1024;
}

dnnl::matmul::primitive_desc describe(const dnnl::engine& engine, const dnnl::memory::desc& a,
                                      const dnnl::memory::desc& b, const dnnl::memory::desc& bias,
                                      const dnnl::memory::desc& out,
                                      const dnnl::primitive_attr& attributes) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, a, b, bias, out, attributes};
#else
  return {{a, b, bias, out}, attributes, engine};
#endif
}

Product make_product(const dnnl::engine& engine, const Form& form) {
  using Desc = dnnl::memory::desc;
  constexpr auto f32 = dnnl::memory::data_type::f32;
  const auto strided = [](std::int64_t rows, std::int64_t cols, const auto& strides) {
    return Desc({rows, cols}, f32, dnnl::memory::dims{strides[0], strides[1]});
  };
  const auto empty = [&](const Desc& desc) { return dnnl::memory(desc, engine, DNNL_MEMORY_NONE); };

  // Copies of an attribute object are the same object, so these are two.
  dnnl::primitive_attr pack_attributes;
  dnnl::primitive_attr multiply_attributes;
  for (dnnl::primitive_attr* attributes : {&pack_attributes, &multiply_attributes})
    attributes->set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (form.accumulate) {
    dnnl::post_ops add;
    add.append_sum(1.0f);
    multiply_attributes.set_post_ops(add);
  }
  const Desc a = strided(form.m, form.k, form.a_strides);
  const Desc b = strided(form.k, form.n, form.b_strides);
  const Desc out = strided(form.m, form.n, std::array<std::int64_t, 2>{form.out_stride, 1});
  const Desc bias = form.bias ? strided(1, form.n, std::array<std::int64_t, 2>{form.n, 1}) : Desc();
  const Desc best({form.k, form.n}, f32, dnnl::memory::format_tag::any);
  const auto multiply =
      describe(engine, a, packing_pays(form) ? best : b, bias, out, multiply_attributes);

  Product product;
  product.a = empty(a);
  product.b = empty(b);
  product.out = empty(out);
  product.multiply.primitive = dnnl::matmul(multiply);
  product.multiply.scratchpad = empty(multiply.scratchpad_desc());
  product.scratchpad_bytes = lines(multiply.scratchpad_desc().get_size());
  const bool packs = multiply.weights_desc() != b;
  if (packs) {
    product.packed = empty(multiply.weights_desc());
    product.packed_bytes = lines(multiply.weights_desc().get_size());
    const dnnl::reorder::primitive_desc pack(engine, b, engine, multiply.weights_desc(),
                                             pack_attributes);
    product.pack.primitive = dnnl::reorder(pack);
    product.pack.scratchpad = empty(pack.scratchpad_desc());
    product.pack.arguments = {{DNNL_ARG_FROM, product.b.get()},
                              {DNNL_ARG_TO, product.packed.get()},
                              {DNNL_ARG_SCRATCHPAD, product.pack.scratchpad.get()}};
    product.scratchpad_bytes =
        std::max(product.scratchpad_bytes, lines(pack.scratchpad_desc().get_size()));
  }
  product.multiply.arguments = {{DNNL_ARG_SRC, product.a.get()},
                                {DNNL_ARG_WEIGHTS, (packs ? product.packed : product.b).get()},
                                {DNNL_ARG_DST, product.out.get()},
                                {DNNL_ARG_SCRATCHPAD, product.multiply.scratchpad.get()}};
  if (form.bias) {
    product.bias = empty(bias);
    product.multiply.arguments.push_back({DNNL_ARG_BIAS, product.bias.get()});
  }
  return product;
}

void execute(const Execution& execution, const dnnl::stream& stream, std::byte* scratchpad) {
  execution.scratchpad.set_data_handle(scratchpad);
  dnnl::error::wrap_c_api(dnnl_primitive_execute(execution.primitive.get(), stream.get(),
                                                 static_cast<int>(execution.arguments.size()),
                                                 execution.arguments.data()),
                          "execution");
}

}  // namespace

struct OnednnMatmul::State {
  explicit State(Scratch& scratch) : scratch(scratch) {}

  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  Scratch& scratch;
  std::unordered_map<Form, Product, FormHash> products;
};

OnednnMatmul::OnednnMatmul(Scratch& scratch) {
  try {
    state_ = std::make_unique<State>(scratch);
  } catch (const dnnl::error& error) {
    fail(Fault::external, "oneDNN {}: no CPU engine: status {} ({})", onednn_version(),
         static_cast<int>(error.status), dnnl_status2str(error.status));
  }
}

OnednnMatmul::~OnednnMatmul() = default;

void OnednnMatmul::operator()(const Matrix<const float>& a, const Matrix<const float>& b,
                              const float* bias, bool accumulate, const Matrix<float>& out) {
  const Form form{out.rows,
                  out.cols,
                  a.cols,
                  {a.row_stride, a.col_stride},
                  {b.row_stride, b.col_stride},
                  out.row_stride,
                  bias != nullptr,
                  accumulate};
  try {
    // A rank is one thread; the setting is the thread's own and counts when primitives are made
    // and when they run.
    omp_set_num_threads(1);
    auto found = state_->products.find(form);
    if (found == state_->products.end()) {
      if (state_->products.size() == products_kept) state_->products.clear();
      found = state_->products.emplace(form, make_product(state_->engine, form)).first;
    }
    const Product& product = found->second;
    std::byte* const packed =
        state_->scratch.reserve(product.packed_bytes + product.scratchpad_bytes);
    std::byte* const scratchpad = packed + product.packed_bytes;
    product.a.set_data_handle(const_cast<float*>(a.data));
    product.b.set_data_handle(const_cast<float*>(b.data));
    product.out.set_data_handle(out.data);
    if (bias != nullptr) product.bias.set_data_handle(const_cast<float*>(bias));
    if (product.packed_bytes > 0) {
      // Setting a handle to padded memory writes the padding, so it is set only when it moved.
      if (product.packed.get_data_handle() != packed) product.packed.set_data_handle(packed);
      execute(product.pack, state_->stream, scratchpad);
    }
    execute(product.multiply, state_->stream, scratchpad);
    state_->stream.wait();
  } catch (const dnnl::error& error) {
    fail(Fault::external,
         "oneDNN {}: product of {}x{} (strides {}, {}) and {}x{} (strides {}, {}): {}: status {} "
         "({})",
         onednn_version(), a.rows, a.cols, a.row_stride, a.col_stride, b.rows, b.cols, b.row_stride,
         b.col_stride, error.what(), static_cast<int>(error.status), dnnl_status2str(error.status));
  }
}

std::string onednn_version() {
  const dnnl_version_t& version = *dnnl_version();
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

}  // namespace shardlab::cpu
