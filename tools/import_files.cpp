#include "tools/import_files.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/core/check.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> content_of(const fs::path& file, std::size_t bytes) {
  std::error_code error;
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) != bytes || error)
    return std::nullopt;
  std::string content(bytes, '\0');
  std::ifstream stream(file, std::ios::binary);
  if (!stream.read(content.data(), static_cast<std::streamsize>(bytes))) return std::nullopt;
  return content;
}

}  // namespace

results::ImportSource import_source(const std::string& file) {
  std::error_code error;
  if (fs::is_directory(file, error))
    fail(Fault::invalid, "{}: a folder; give the files in it", file);
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(Fault::external, "{}: cannot be read: {}", file, std::strerror(errno));
  results::ImportSource source{file, {std::istreambuf_iterator<char>(stream), {}}, {}};
  if (stream.bad()) fail(Fault::external, "{}: cannot be read: {}", file, std::strerror(errno));
  const fs::path folder = fs::path(file).parent_path();
  // The path in a file may be seen from where it was written; its last two parts always fit.
  source.beside = [folder](const std::string& path, std::size_t bytes) {
    const fs::path named(path);
    const fs::path last = named.parent_path().filename() / named.filename();
    auto content = content_of(folder / last, bytes);
    return content || named.is_absolute() ? std::move(content) : content_of(folder / named, bytes);
  };
  return source;
}

std::string written_at(const std::string& file) {
  std::error_code error;
  const auto time = fs::last_write_time(file, error);
  if (error) return "";
  const auto utc = std::chrono::file_clock::to_sys(time);
  const auto midnight = std::chrono::floor<std::chrono::days>(utc);
  const std::chrono::year_month_day date{midnight};
  const std::chrono::hh_mm_ss at{std::chrono::floor<std::chrono::microseconds>(utc - midnight)};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     at.hours().count(), at.minutes().count(), at.seconds().count(),
                     at.subseconds().count());
}

}  // namespace shardlab
