#include "engine/core/buffer.h"

#include "engine/core/backend.h"

namespace shardlab {

const char* name_of(Category category) noexcept {
  switch (category) {
    case Category::parameter:
      return "parameter";
    case Category::gradient:
      return "gradient";
    case Category::optimizer:
      return "optimizer";
    case Category::activation:
      return "activation";
    case Category::workspace:
      return "workspace";
    case Category::communication:
      return "communication";
    case Category::library:
      return "library";
  }
  return "unknown";
}

void Ledger::charge(Category category, std::int64_t bytes) {
  by_category_[index(category)] += bytes;
  live_ += bytes;
  if (live_ <= peak_) return;
  peak_ = live_;
  at_peak_ = by_category_;
}

void Ledger::credit(Category category, std::int64_t bytes) {
  by_category_[index(category)] -= bytes;
  live_ -= bytes;
}

void Ledger::reset_peak() {
  peak_ = live_;
  at_peak_ = by_category_;
}

Buffer::~Buffer() { backend_->release(*this); }

void Buffer::recategorize(Category category) {
  Ledger& ledger = backend_->ledger();
  ledger.credit(category_, engine_bytes(bytes_));
  ledger.charge(category, engine_bytes(bytes_));
  category_ = category;
}

}  // namespace shardlab
