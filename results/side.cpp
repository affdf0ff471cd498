#include "results/side.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "engine/core/check.h"

namespace shardlab::results {
namespace {

constexpr std::size_t least_commit = 7;

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
}

/// `2031-02-03`, perhaps with a time behind it.
bool is_date(std::string_view text) {
  constexpr std::string_view shape = "dddd-dd-dd";
  if (text.size() < shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != '-') return false;
  return text.size() == shape.size() || text[shape.size()] == 'T';
}

std::shared_ptr<const Reader> open(const std::string& path) {
  return std::make_shared<const Reader>(open_for_reading(path));
}

std::set<std::int64_t> ids(const Reader& reader, const char* sql, std::string_view text) {
  std::set<std::int64_t> found;
  Statement get(reader.database(), sql);
  for (get.bind(text); get.step();) found.insert(get.integer(0));
  return found;
}

/// The one text that a query gives for what was typed, or none.
std::string only(const Reader& reader, const char* sql, const std::string& text, const char* what) {
  Statement get(reader.database(), sql);
  if (!get.bind(text).step()) return "";
  std::string found = get.text(0);
  check(!get.step(), "{}: several {} begin with '{}'", reader.database().path(), what, text);
  return found;
}

class Finder {
 public:
  Finder(const std::string& text, const std::string& database)
      : text_(text), side_{.title = text, .reader = open(database)}, path_(database) {}

  Side find() {
    if (is_date(text_)) return of_date();
    if (is_hexadecimal(text_) && (is_run() || is_commit())) return side_;
    if (keep(ids(*side_.reader, "SELECT id FROM run WHERE branch = ?", text_)))
      return named("branch " + text_);
    fail(Fault::invalid,
         "{}: no run, commit, branch or date '{}' in it, and no file of this name; `shardlab show "
         "runs` lists what is there",
         path_, text_);
  }

 private:
  Side named(std::string title) {
    side_.title = std::move(title);
    return side_;
  }

  bool keep(const std::set<std::int64_t>& wanted) {
    if (wanted.empty()) return false;
    side_.runs = list_runs(*side_.reader);
    std::erase_if(side_.runs, [&](const RunInfo& run) { return !wanted.contains(run.id.value); });
    return true;
  }

  bool is_run() {
    const bool number = text_.find_first_not_of("0123456789") == std::string::npos;
    const std::string uuid =
        number && text_.size() < least_commit
            ? only(*side_.reader, "SELECT uuid FROM run WHERE id = CAST(? AS INTEGER)", text_,
                   "runs")
            : only(*side_.reader,
                   "SELECT uuid FROM run WHERE substr(uuid, 1, length(?1)) = ?1 LIMIT 2", text_,
                   "runs");
    if (uuid.empty()) return false;
    keep(ids(*side_.reader, "SELECT id FROM run WHERE uuid = ?", uuid));
    const RunInfo& run = side_.runs.front();
    side_.title = fmt::format("run {} of {}", run.id.value,
                              run.commit.empty() ? "no commit" : run.commit.substr(0, 8));
    side_.one_run = true;
    return true;
  }

  bool is_commit() {
    if (text_.size() < least_commit) return false;
    const std::string commit = only(*side_.reader,
                                    "SELECT DISTINCT commit_id FROM run WHERE"
                                    " substr(commit_id, 1, length(?1)) = ?1 LIMIT 2",
                                    text_, "commits");
    if (commit.empty()) return false;
    keep(ids(*side_.reader, "SELECT id FROM run WHERE commit_id = ?", commit));
    side_.title = "commit " + commit.substr(0, 8);
    return true;
  }

  Side of_date() {
    if (keep(ids(*side_.reader, "SELECT id FROM run WHERE substr(created, 1, length(?1)) = ?1",
                 text_)))
      return named("runs of " + text_);
    Statement get(side_.reader->database(),
                  "SELECT substr(max(created), 1, 10) FROM run WHERE created < ?");
    const bool earlier = get.bind(text_).step() && !get.is_null(0);
    fail(Fault::invalid, "{}: no run of {}{}", path_, text_,
         earlier ? "; the last day with runs before it is " + get.text(0) : "");
  }

  std::string text_;
  Side side_;
  std::string path_;
};

}  // namespace

Side find_side(const std::string& text, const std::string& database) {
  check(!text.empty(), "an empty word names no side of a comparison");
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(text, ignored)) return Finder(text, database).find();
  Side side{.title = text, .reader = open(text)};
  side.runs = list_runs(*side.reader);
  check(!side.runs.empty(), "{}: no runs in it", text);
  return side;
}

}  // namespace shardlab::results
