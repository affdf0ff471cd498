#include "engine/sim/kernel_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "engine/core/check.h"
#include "engine/sim/median.h"

namespace shardlab::sim {
namespace {

constexpr double fewest_launches = 2;
constexpr double most_ratio = 8;  // What takes longer still is not a matter of the rate.
constexpr double fall = 0.85;     // Of the time of a smaller size: what is less is no curve.

/// One kernel that ran, and the bucket of half an octave that it lies in.
struct Sample {
  const Work* work;
  double size;
  double seconds;
  int bucket;
};

double size_of(const Work& work) {
  return work.family == Family::pointwise ? work.bytes : work.flop;
}

double median_error(const Rates& rates, const std::vector<Sample>& samples) {
  std::vector<double> errors;
  errors.reserve(samples.size());
  for (const Sample& sample : samples)
    errors.push_back(std::abs(rates.time(*sample.work).seconds / sample.seconds - 1));
  return median(std::move(errors));
}

/// Fits one family in one precision.
class Fitter {
 public:
  Fitter(const Machine& machine, KernelFit fit, int least_samples, const std::string& from)
      : machine_(machine),
        rates_(machine),
        launch_(machine.value("gpu.launch")),
        least_samples_(least_samples),
        from_(from),
        fit_(std::move(fit)) {}

  void add(const MeasuredKernel& kernel) {
    const double size = size_of(kernel.work);
    if (size <= 0) return;
    const int bucket = static_cast<int>(std::lround(2 * std::log2(size)));
    for (const double seconds : kernel.seconds)
      if (seconds > 0) buckets_[bucket].push_back({&kernel.work, size, seconds, bucket});
  }

  KernelFit finish() {
    for (const auto& [bucket, samples] : buckets_) fit_.sizes.push_back(looked_at(samples));
    fit_.refused = keep_rising();
    if (fit_.refused.empty()) correct();
    return std::move(fit_);
  }

 private:
  [[nodiscard]] double above_launch(double size) const {
    Work work{fit_.family, fit_.precision, size, 0};
    if (fit_.family == Family::pointwise) work = {fit_.family, fit_.precision, 0, size};
    return rates_.time(work).seconds - launch_;
  }

  [[nodiscard]] bool memory_bound(const Work& work) const {
    if (work.family == Family::pointwise || work.bytes <= 0) return false;
    return rates_.time(work).seconds - launch_ > 1.001 * above_launch(work.flop);
  }

  [[nodiscard]] FittedSize looked_at(const std::vector<Sample>& samples) const {
    FittedSize size;
    std::vector<double> times;
    std::vector<double> ratios;
    double logs = 0;
    std::size_t bound = 0;
    for (const Sample& sample : samples) {
      logs += std::log(sample.size);
      times.push_back(sample.seconds);
      ratios.push_back((sample.seconds - launch_) / above_launch(sample.size));
      bound += memory_bound(*sample.work) ? 1 : 0;
    }
    size.size = std::exp(logs / static_cast<double>(samples.size()));
    size.samples = static_cast<int>(samples.size());
    size.seconds = median(times);
    size.ratio = median(ratios);
    size.before = median_error(rates_, samples);
    size.after = size.before;
    if (size.samples < least_samples_)
      size.left = fmt::format("{} samples, {} are needed", size.samples, least_samples_);
    else if (size.seconds < fewest_launches * launch_)
      size.left = "hardly longer than a launch";
    else if (2 * bound > samples.size())
      size.left = "bound by the memory";
    else if (size.ratio > most_ratio || size.ratio * most_ratio < 1)
      size.left = fmt::format("more than {:.0f} times off: not a matter of the rate", most_ratio);
    return size;
  }

  /// The sizes whose times rise, as many samples as can be; names the others.
  ///
  /// Returns  Why nothing is corrected; empty if something is.
  [[nodiscard]] std::string keep_rising() {
    struct Chain {
      FittedSize* size;
      double longest;
      int samples;
      std::ptrdiff_t before;
    };
    std::vector<Chain> chains;  // The best that ends at each size.
    int all = 0;
    for (FittedSize& size : fit_.sizes) {
      if (!size.left.empty()) continue;
      all += size.samples;
      const double seconds = launch_ + size.ratio * above_launch(size.size);
      Chain best{&size, seconds, size.samples, -1};
      for (std::size_t i = 0; i < chains.size(); ++i) {
        const int samples = chains[i].samples + size.samples;
        if (seconds < fall * chains[i].longest || samples <= best.samples) continue;
        best = {&size, std::max(seconds, chains[i].longest), samples,
                static_cast<std::ptrdiff_t>(i)};
      }
      chains.push_back(best);
    }
    if (chains.empty()) return "no size has what a correction needs";
    const auto end =
        std::max_element(chains.begin(), chains.end(),
                         [](const auto& a, const auto& b) { return a.samples < b.samples; });
    if (4 * (all - end->samples) > all)
      return fmt::format("times do not rise with the size: {} of {} kernels are against it",
                         all - end->samples, all);
    for (Chain& chain : chains) chain.size->left = "its time does not fit between the other sizes";
    for (std::ptrdiff_t at = end - chains.begin(); at >= 0; at = chains[at].before)
      chains[at].size->left.clear();
    return "";
  }

  /// Curves with ratios on lines between the sizes, but for one that is left out.
  [[nodiscard]] std::vector<Curve> curves(const FittedSize* without) const {
    std::vector<std::pair<double, double>> logs;  // Of sizes and ratios.
    for (const FittedSize& size : fit_.sizes)
      if (size.left.empty() && &size != without)
        logs.emplace_back(std::log(size.size), std::log(size.ratio));
    std::vector<double> sizes;
    for (const auto& [at, ratio] : logs) sizes.push_back(std::exp(at));
    const double first = sizes.front();
    const double last = sizes.back();
    Curve measured;
    measured.family = fit_.family;
    measured.precision = fit_.precision;
    std::vector<Curve> outside;
    for (const Curve& curve : machine_.curves) {
      if (!same_subject(curve, measured)) continue;
      outside.push_back(curve);
      for (const auto& [size, rate] : curve.points)
        if (size > first && size < last) sizes.push_back(size);
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    measured.source = Source::user_measured;
    measured.from = from_;
    measured.half_width = half_width_of(measured.source);
    double longest = 0;
    for (const double size : sizes) {
      const double log_size = std::clamp(std::log(size), logs.front().first, logs.back().first);
      auto after = std::find_if(logs.begin(), logs.end(),
                                [log_size](const auto& each) { return each.first >= log_size; });
      double ratio = after->second;
      if (after != logs.begin() && after->first > log_size) {
        const auto before = after - 1;
        ratio = std::lerp(before->second, after->second,
                          (log_size - before->first) / (after->first - before->first));
      }
      longest = std::max(longest, std::exp(ratio) * above_launch(size));
      measured.points.emplace_back(size, size / longest);
    }
    const double shortest = first / measured.points.front().second;
    for (Curve& curve : outside) {
      std::erase_if(curve.points, [first, last](const auto& point) {
        return point.first >= first && point.first <= last;
      });
      for (auto& [size, rate] : curve.points) {
        const double seconds =
            size < first ? std::min(size / rate, shortest) : std::max(size / rate, longest);
        rate = size / seconds;
      }
    }
    std::erase_if(outside, [](const Curve& curve) { return curve.points.empty(); });
    outside.insert(outside.begin(), std::move(measured));
    return outside;
  }

  [[nodiscard]] Rates rates_with(std::vector<Curve> curves) const {
    KernelFit other;
    other.curves = std::move(curves);
    return Rates(corrected(machine_, {std::move(other)}));
  }

  void correct() {
    fit_.curves = curves(nullptr);
    const Rates now = rates_with(fit_.curves);
    std::vector<double> errors;
    std::vector<Sample> used;
    auto size = fit_.sizes.begin();
    for (const auto& [bucket, samples] : buckets_) {
      if (size->left.empty()) {
        size->after = median_error(now, samples);
        used.insert(used.end(), samples.begin(), samples.end());
        for (const Sample& sample : samples)
          errors.push_back(std::abs(now.time(*sample.work).seconds / sample.seconds - 1));
      }
      ++size;
    }
    fit_.before = median_error(rates_, used);
    fit_.after = median_error(now, used);
    std::sort(errors.begin(), errors.end());
    Curve& measured = fit_.curves.front();
    measured.half_width = std::clamp(errors[(errors.size() - 1) * 4 / 5], measured.half_width, 1.0);
    leave_out();
  }

  void leave_out() {
    const auto fitted = std::count_if(fit_.sizes.begin(), fit_.sizes.end(),
                                      [](const FittedSize& each) { return each.left.empty(); });
    if (fitted < 3) return;
    std::vector<double> errors;
    auto size = fit_.sizes.begin();
    for (const auto& [bucket, samples] : buckets_) {
      if (size->left.empty()) {
        const Rates without = rates_with(curves(&*size));
        size->left_out = median_error(without, samples);
        for (const Sample& sample : samples)
          errors.push_back(std::abs(without.time(*sample.work).seconds / sample.seconds - 1));
      }
      ++size;
    }
    fit_.left_out = median(std::move(errors));
  }

  const Machine& machine_;
  Rates rates_;
  double launch_;
  int least_samples_;
  const std::string& from_;
  KernelFit fit_;
  std::map<int, std::vector<Sample>> buckets_;
};

}  // namespace

std::vector<KernelFit> fit_kernels(const Machine& machine,
                                   const std::vector<MeasuredKernel>& kernels, int least_samples,
                                   const std::string& from) {
  std::map<std::tuple<Family, Dtype, MathMode>, Fitter> fitters;
  for (const MeasuredKernel& kernel : kernels) {
    KernelFit fit;
    fit.family = kernel.work.family;
    if (fit.family != Family::pointwise) fit.precision = kernel.work.precision;
    fitters
        .try_emplace({fit.family, fit.precision.dtype, fit.precision.math}, machine, fit,
                     least_samples, from)
        .first->second.add(kernel);
  }
  std::vector<KernelFit> fits;
  for (auto& [subject, fitter] : fitters) {
    KernelFit fit = fitter.finish();
    if (!fit.sizes.empty()) fits.push_back(std::move(fit));
  }
  return fits;
}

Machine corrected(Machine machine, const std::vector<KernelFit>& fits) {
  for (const KernelFit& fit : fits) {
    if (fit.curves.empty()) continue;
    std::erase_if(machine.curves,
                  [&fit](const Curve& curve) { return same_subject(curve, fit.curves.front()); });
    machine.curves.insert(machine.curves.end(), fit.curves.begin(), fit.curves.end());
  }
  return machine;
}

}  // namespace shardlab::sim
