#include "tests/support/golden.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>

#include "engine/core/check.h"

namespace shardlab::golden {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

struct Format {
  const char* stored;   ///< As named in a .safetensors file.
  const char* written;  ///< As named in a list of cases.
  std::size_t bytes;
  Array::Kind kind;
};
constexpr std::array<Format, 3> formats{{{"F64", "float64", 8, Array::Kind::float64},
                                         {"I64", "int64", 8, Array::Kind::int64},
                                         {"U8", "uint8", 1, Array::Kind::mask}}};

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) fail(Fault::external, "{}: cannot be read", path.string());
  return text;
}

json parsed(std::string_view text, const std::string& where) {
  const auto note_depth = [&](int depth, json::parse_event_t, json&) {
    check(depth <= 100, "{}: JSON of more than 100 levels", where);
    return true;
  };
  json value = json::parse(text, note_depth, false);
  check(!value.is_discarded(), "{}: not JSON", where);
  return value;
}

/// The member of an object, of the wanted type.
template <typename T>
T member(const json& object, const char* name, const std::string& where) {
  check(object.is_object() && object.contains(name), "{}: '{}' is missing", where, name);
  try {
    return object[name].get<T>();
  } catch (const json::exception&) {
    fail(Fault::invalid, "{}: '{}' has the wrong type: {}", where, name, object[name].dump());
  }
}

Shape shape_of(const json& entry, const std::string& where) {
  const auto extents = member<std::vector<std::int64_t>>(entry, "shape", where);
  check(extents.size() <= max_ndim, "{}: {} dims, at most {}", where, extents.size(), max_ndim);
  constexpr std::int64_t most = 1 << 30;
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) {
    check(extent >= 0 && extent <= most && count * extent <= most, "{}: an extent is {}", where,
          extent);
    count *= extent;
  }
  return Shape(extents);
}

/// Appends elements of type T that lie in raw bytes.
template <typename T>
void append(std::string_view raw, std::vector<double>& values, const std::string& where) {
  constexpr double largest = 1LL << 53;
  for (std::size_t at = 0; at < raw.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, raw.data() + at, sizeof(T));
    const auto number = static_cast<double>(value);
    if constexpr (std::is_same_v<T, double>)
      check(!std::isnan(number), "{}: element {} is NaN", where, at / sizeof(T));
    else if constexpr (std::is_same_v<T, std::int64_t>)
      check(std::abs(number) <= largest, "{}: {} does not fit float64", where, value);
    else
      check(value <= 1, "{}: a mask holds {}", where, int{value});
    values.push_back(number);
  }
}

Array decode(const json& entry, std::string_view data, const std::string& where) {
  const auto name = member<std::string>(entry, "dtype", where);
  const auto* format = std::find_if(formats.begin(), formats.end(),
                                    [&](const Format& f) { return name == f.stored; });
  check(format != formats.end(), "{}: dtype {}, expected F64, I64 or U8", where, name);
  Array array{format->kind, shape_of(entry, where), {}};
  const auto range = member<std::vector<std::uint64_t>>(entry, "data_offsets", where);
  check(range.size() == 2 && range[0] <= range[1] && range[1] <= data.size(),
        "{}: bytes [{}] of {}", where, fmt::join(range, ", "), data.size());
  const std::uint64_t bytes = range[1] - range[0];
  check(bytes == static_cast<std::uint64_t>(array.shape.count()) * format->bytes,
        "{}: {} bytes, {} of {} needs {}", where, bytes, to_string(array.shape), name,
        static_cast<std::uint64_t>(array.shape.count()) * format->bytes);
  const std::string_view raw = data.substr(range[0], bytes);
  switch (format->kind) {
    case Array::Kind::float64:
      append<double>(raw, array.values, where);
      break;
    case Array::Kind::int64:
      append<std::int64_t>(raw, array.values, where);
      break;
    case Array::Kind::mask:
      append<std::uint8_t>(raw, array.values, where);
      break;
  }
  return array;
}

/// Turns one element of a list of cases into a Case.
class Reader {
 public:
  Reader(const Arrays& arrays, std::set<std::string>& used, const json& entry, std::string where)
      : arrays_(arrays), used_(used), entry_(entry), where_(std::move(where)) {}

  Case read() {
    check(entry_.is_object(), "{}: not an object", where_);
    Case result;
    result.id = member<std::string>(entry_, "id", where_);
    where_ += ": " + result.id;
    known_fields();
    result.op = member<std::string>(entry_, "op", where_);
    result.attributes = member<json>(entry_, "attributes", where_);
    check(result.attributes.is_object(), "{}: attributes are not an object", where_);
    result.inputs = role("inputs");
    result.outputs = role("outputs");
    if (entry_.contains("parameters")) result.parameters = role("parameters");
    if (entry_.contains("cotangents")) result.cotangents = role("cotangents");
    if (entry_.contains("gradients")) result.gradients = role("gradients");
    if (entry_.contains("loss")) result.loss = member<std::string>(entry_, "loss", where_);
    if (entry_.contains("may_refuse"))
      result.may_refuse = member<bool>(entry_, "may_refuse", where_);
    const auto errors = member<json>(entry_, "torch_float32_error", where_);
    result.forward_error32 = member<double>(errors, "forward", where_);
    if (!result.gradients.empty())
      result.gradient_error32 = member<double>(errors, "gradient", where_);
    fits(result);
    return result;
  }

 private:
  void known_fields() const {
    static constexpr std::array<std::string_view, 13> known{
        "id",   "op",        "attributes",          "inputs", "outputs", "parameters", "cotangents",
        "loss", "gradients", "torch_float32_error", "source", "note",    "may_refuse"};
    for (const auto& [name, value] : entry_.items())
      check(std::find(known.begin(), known.end(), name) != known.end(), "{}: unknown field '{}'",
            where_, name);
  }

  Arrays role(const char* name) {
    Arrays result;
    const auto entries = member<json>(entry_, name, where_);
    check(entries.is_object(), "{}: {} are not an object", where_, name);
    for (const auto& [key, entry] : entries.items()) {
      const std::string where = fmt::format("{}: {} '{}'", where_, name, key);
      const auto tensor = member<std::string>(entry, "tensor", where);
      const auto found = arrays_.find(tensor);
      check(found != arrays_.end(), "{}: no array {}", where, tensor);
      const Array& array = found->second;
      const Shape shape = shape_of(entry, where);
      const auto dtype = member<std::string>(entry, "dtype", where);
      const char* stored = formats[static_cast<std::size_t>(array.kind)].written;
      check(array.shape == shape && dtype == stored, "{}: {} {}, the array is {} {}", where, dtype,
            to_string(shape), stored, to_string(array.shape));
      used_.insert(tensor);
      result.emplace(key, array);
    }
    return result;
  }

  void fits(const Case& c) const {
    for (const auto& [name, array] : c.cotangents)
      check(c.outputs.count(name) != 0 && c.outputs.at(name).shape == array.shape,
            "{}: cotangent '{}' fits no output", where_, name);
    for (const auto& [name, array] : c.gradients)
      check(c.has_operand(name) && c.operand(name).shape == array.shape,
            "{}: gradient '{}' fits no input", where_, name);
    check(c.loss.empty() || c.outputs.count(c.loss) != 0, "{}: no output '{}'", where_, c.loss);
    check(c.gradients.empty() || !c.cotangents.empty() || !c.loss.empty(),
          "{}: gradients of nothing", where_);
  }

  const Arrays& arrays_;
  std::set<std::string>& used_;
  const json& entry_;
  std::string where_;
};

}  // namespace

bool Case::has_operand(const std::string& name) const {
  return inputs.count(name) != 0 || parameters.count(name) != 0;
}

const Array& Case::operand(const std::string& name) const {
  check(has_operand(name), "{}: no input '{}'", id, name);
  return inputs.count(name) != 0 ? inputs.at(name) : parameters.at(name);
}

Arrays read_safetensors(const std::filesystem::path& path) {
  const std::string file = path.string();
  const std::string text = contents_of(path);
  std::uint64_t length = 0;
  check(text.size() >= sizeof length, "{}: {} bytes, too short for a header", file, text.size());
  std::memcpy(&length, text.data(), sizeof length);
  check(length <= text.size() - sizeof length, "{}: a header of {} bytes in a file of {}", file,
        length, text.size());
  const std::string_view all = text;
  const json header = parsed(all.substr(sizeof length, length), file + ": header");
  check(header.is_object(), "{}: header: not an object", file);
  const std::string_view data = all.substr(sizeof length + length);
  Arrays arrays;
  std::size_t bytes = 0;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    Array array = decode(entry, data, file + ": " + name);
    bytes += array.values.size() * formats[static_cast<std::size_t>(array.kind)].bytes;
    arrays.emplace(name, std::move(array));
  }
  check(bytes == data.size(), "{}: {} bytes of arrays in {} bytes of data", file, bytes,
        data.size());
  return arrays;
}

std::vector<Case> read_cases(const std::filesystem::path& folder, const std::string& op) {
  const Arrays arrays = read_safetensors(folder / (op + ".safetensors"));
  const std::string file = (folder / (op + ".json")).string();
  const json list = parsed(contents_of(file), file);
  check(list.is_array(), "{}: not a list", file);
  std::set<std::string> used;
  std::set<std::string> ids;
  std::vector<Case> cases;
  for (const json& entry : list) {
    cases.push_back(Reader(arrays, used, entry, file).read());
    check(cases.back().op == op, "{}: {}: of op {}", file, cases.back().id, cases.back().op);
    check(ids.insert(cases.back().id).second, "{}: {}: given twice", file, cases.back().id);
  }
  for (const auto& [name, array] : arrays)
    check(used.count(name) != 0, "{}: array {} belongs to no case", file, name);
  return cases;
}

double relative_error(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr double differs = std::numeric_limits<double>::infinity();
  if (a.size() != b.size()) return differs;
  double distance = 0;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(b[i])) {
      if (a[i] != b[i]) return differs;
      continue;
    }
    if (!std::isfinite(a[i])) return differs;
    distance = std::max(distance, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(b[i]));
  }
  return largest > 0 ? distance / largest : distance;
}

}  // namespace shardlab::golden
