#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace shardlab {

/// Base of objects counted by Ref. The count is not atomic: an object belongs to one rank's thread.
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  template <typename T>
  friend class Ref;
  mutable std::int32_t count_ = 0;
};

/// Shares a Counted object within one rank; half the cost of an atomic count on the dispatch path.
template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) { retain(); }
  Ref(const Ref& other) : object_(other.object_) { retain(); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <typename Derived>
  requires std::is_convertible_v<Derived*, T*> Ref(const Ref<Derived>& other)
      : object_(other.get()) {  // NOLINT: as pointers convert
    retain();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr && --object_->count_ == 0) delete object_;
  }

  [[nodiscard]] T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

  /// Whether this is the only reference.
  [[nodiscard]] bool unique() const { return object_ != nullptr && object_->count_ == 1; }

 private:
  void retain() {
    if (object_ != nullptr) ++object_->count_;
  }
  T* object_ = nullptr;
};

/// Makes a counted object and the first reference to it.
template <typename T, typename... Args>
[[nodiscard]] Ref<T> make_ref(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace shardlab
