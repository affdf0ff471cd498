#include "tests/golden/families.h"

#include "tests/golden/apply.h"

namespace shardlab::golden {

const std::vector<Family>& families() {
  static const std::vector<Family> all{
      // op                   run skipped
      {"adamw", 6, 0, apply::adamw, every_cut},
      {"add", 6, 0, apply::add, every_cut},
      {"attention", 14, 15, apply::attention, every_cut},
      {"attention_merge", 4, 0, apply::attention_merge, every_cut},
      {"attention_split", 3, 3, apply::attention_split, arrange::chunks},
      {"concat", 2, 0, apply::concat, every_cut},
      {"cross_entropy", 9, 0, apply::cross_entropy, every_cut},
      {"divide", 2, 0, apply::divide, every_cut},
      {"gelu", 6, 0, apply::gelu, every_cut},
      {"layer_norm", 7, 0, apply::layer_norm, every_cut},
      {"linear", 5, 0, apply::linear, every_cut},
      {"log_softmax", 2, 0, apply::log_softmax, every_cut},
      {"matmul", 9, 0, apply::matmul, every_cut},
      {"mean", 6, 0, apply::mean, every_cut},
      {"mse_loss", 2, 0, apply::mse_loss, every_cut},
      {"multi_head_attention", 2, 3, apply::multi_head_attention, arrange::activations},
      {"multiply", 6, 0, apply::multiply, every_cut},
      {"rearrange", 6, 0, apply::rearrange, every_cut},
      {"relu", 2, 0, apply::relu, every_cut},
      {"sgd", 5, 0, apply::sgd, every_cut},
      {"sigmoid", 1, 0, apply::sigmoid, every_cut},
      {"silu", 2, 0, apply::silu, every_cut},
      {"slice", 3, 0, apply::slice, every_cut},
      {"softmax", 7, 0, apply::softmax, every_cut},
      {"subtract", 1, 0, apply::subtract, every_cut},
      {"sum", 8, 0, apply::sum, every_cut},
      {"tanh", 1, 0, apply::tanh, every_cut},
      {"vit", 3, 1, apply::vit, arrange::image},
  };
  return all;
}

}  // namespace shardlab::golden
