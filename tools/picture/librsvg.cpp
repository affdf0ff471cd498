#include <cairo/cairo.h>
#include <librsvg/rsvg.h>

#include <cmath>
#include <memory>

#include "engine/core/check.h"
#include "tools/picture.h"

namespace shardlab {
namespace {

struct Release {
  void operator()(RsvgHandle* handle) const { g_object_unref(handle); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* drawing) const { cairo_destroy(drawing); }
};

std::string text_of(GError* error) {
  const std::string text = error != nullptr ? error->message : "no reason given";
  g_clear_error(&error);
  return text;
}

}  // namespace

void write_png(const std::string& path, const std::string& svg, double scale) {
  spare_database(path);
  GError* error = nullptr;
  const std::unique_ptr<RsvgHandle, Release> handle(
      rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error));
  expect(handle != nullptr, "librsvg cannot read the drawing: {}", text_of(error));
  gdouble width = 0;
  gdouble height = 0;
  gboolean has_width = FALSE;
  gboolean has_height = FALSE;
  gboolean has_box = FALSE;
  RsvgLength unused{};
  RsvgRectangle box{};
  rsvg_handle_get_intrinsic_dimensions(handle.get(), &has_width, &unused, &has_height, &unused,
                                       &has_box, &box);
  expect(has_box != FALSE, "the drawing has no size");
  width = std::ceil(box.width * scale);
  height = std::ceil(box.height * scale);
  const std::unique_ptr<cairo_surface_t, Release> surface(cairo_image_surface_create(
      CAIRO_FORMAT_ARGB32, static_cast<int>(width), static_cast<int>(height)));
  const std::unique_ptr<cairo_t, Release> drawing(cairo_create(surface.get()));
  const RsvgRectangle all{0, 0, width, height};
  error = nullptr;
  const bool drawn =
      rsvg_handle_render_document(handle.get(), drawing.get(), &all, &error) != FALSE;
  expect(drawn, "librsvg cannot draw: {}", text_of(error));
  const cairo_status_t status = cairo_surface_write_to_png(surface.get(), path.c_str());
  if (status != CAIRO_STATUS_SUCCESS)
    fail(Fault::external, "{}: cannot be written: {}", path, cairo_status_to_string(status));
}

}  // namespace shardlab
