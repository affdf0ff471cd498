#include "tools/perf/onednn_direct.h"

#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

namespace shardlab::perf {
namespace {

using dnnl::memory;

memory::desc matrix(std::int64_t rows, std::int64_t columns, memory::format_tag tag) {
  return {{rows, columns}, memory::data_type::f32, tag};
}

dnnl::matmul::primitive_desc describe(const dnnl::engine& engine, const memory::desc& a,
                                      const memory::desc& b, const memory::desc& c) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, a, b, c};
#else
  return {dnnl::matmul::desc(a, b, c), engine};
#endif
}

}  // namespace

struct DirectProduct::State {
  using Tag = memory::format_tag;
  State(std::int64_t m, std::int64_t n, std::int64_t k)
      : engine(dnnl::engine::kind::cpu, 0),
        stream(engine),
        plain_b(matrix(k, n, Tag::ab)),
        packed(
            describe(engine, matrix(m, k, Tag::ab), matrix(k, n, Tag::any), matrix(m, n, Tag::ab))),
        plain(describe(engine, matrix(m, k, Tag::ab), plain_b, matrix(m, n, Tag::ab))),
        packed_product(packed),
        plain_product(plain),
        a(packed.src_desc(), engine, nullptr),
        b(plain_b, engine, nullptr),
        b_packed(packed.weights_desc(), engine),
        c(packed.dst_desc(), engine, nullptr),
        pack(b, b_packed) {}

  dnnl::engine engine;
  dnnl::stream stream;
  memory::desc plain_b;
  dnnl::matmul::primitive_desc packed;
  dnnl::matmul::primitive_desc plain;
  dnnl::matmul packed_product;
  dnnl::matmul plain_product;
  memory a, b, b_packed, c;
  dnnl::reorder pack;
};

DirectProduct::DirectProduct(std::int64_t m, std::int64_t n, std::int64_t k) {
  omp_set_num_threads(1);
  state_ = std::make_unique<State>(m, n, k);
}

DirectProduct::~DirectProduct() = default;

void DirectProduct::operator()(const float* a, const float* b, float* c, bool packed) {
  State& s = *state_;
  s.a.set_data_handle(const_cast<float*>(a));
  s.b.set_data_handle(const_cast<float*>(b));
  s.c.set_data_handle(c);
  if (packed) s.pack.execute(s.stream, s.b, s.b_packed);
  const dnnl::matmul& product = packed ? s.packed_product : s.plain_product;
  product.execute(
      s.stream,
      {{DNNL_ARG_SRC, s.a}, {DNNL_ARG_WEIGHTS, packed ? s.b_packed : s.b}, {DNNL_ARG_DST, s.c}});
  s.stream.wait();
}

}  // namespace shardlab::perf
