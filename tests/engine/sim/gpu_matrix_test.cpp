#include "engine/sim/gpu_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/error.h"

namespace shardlab::sim {
namespace {

// Four GPUs, two NICs, each NIC near two GPUs; tabs as nvidia-smi prints them.
const std::string matrix =
    "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tNV6\tNV6\tNV6\tPIX\tSYS\t0-15\t0\t\tN/A\n"
    "GPU1\tNV6\t X \tNV6\tNV6\tPXB\tSYS\t0-15\t0\t\tN/A\n"
    "GPU2\tNV6\tNV6\t X \tNV6\tSYS\tPIX\t16-31\t1\t\tN/A\n"
    "GPU3\tNV6\tNV6\tNV6\t X \tSYS\tNODE\t16-31\t1\t\tN/A\n"
    "NIC0\tPIX\tPXB\tSYS\tSYS\t X \tSYS\t\t\t\t\n"
    "NIC1\tSYS\tSYS\tPIX\tNODE\tSYS\t X \t\t\t\t\n"
    "\n"
    "Legend:\n"
    "\n"
    "  X    = Self\n"
    "  SYS  = Connection across NUMA nodes\n"
    "\n"
    "NIC Legend:\n"
    "\n"
    "  NIC0: mlx5_0\n"
    "  NIC1: mlx5_3\n";

GpuMatrix read(const std::string& text) { return GpuMatrix::read(text, "topo.txt"); }

bool says(const GpuMatrix& found, int line, const std::string& part) {
  return std::any_of(found.oddities().begin(), found.oddities().end(), [&](const Oddity& oddity) {
    return oddity.line == line && has(oddity.text, part);
  });
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

std::string error_of(const std::string& text, Fault fault = Fault::invalid) {
  try {
    (void)read(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault);
    return error.what();
  }
  return "no error";
}

void expect_same_cells(const GpuMatrix& a, const GpuMatrix& b) {
  ASSERT_EQ(a.devices().size(), b.devices().size());
  for (std::size_t row = 0; row < a.devices().size(); ++row)
    for (std::size_t column = 0; column < a.devices().size(); ++column)
      EXPECT_EQ(a.between(row, column), b.between(row, column)) << row << " " << column;
}

TEST(GpuMatrix, HoldsDevicesLinksAffinitiesAndPorts) {
  const GpuMatrix found = read(matrix);
  ASSERT_EQ(found.devices().size(), 6U);
  EXPECT_EQ(found.gpus(), 4);
  EXPECT_EQ(found.nics(), 2);
  EXPECT_EQ(found.between(0, 3), (MatrixCell{MatrixLink::nvlink, 6}));
  EXPECT_EQ(found.between(1, 4), (MatrixCell{MatrixLink::pxb, 0}));
  EXPECT_EQ(found.between(3, 5), (MatrixCell{MatrixLink::node, 0}));
  EXPECT_EQ(found.between(2, 2), (MatrixCell{MatrixLink::self, 0}));
  EXPECT_EQ(found.devices()[2].cpus, "16-31");
  EXPECT_EQ(found.devices()[2].numa, 1);
  EXPECT_FALSE(found.devices()[4].numa.has_value());
  EXPECT_EQ(found.devices()[5].port, "mlx5_3");
  EXPECT_TRUE(found.oddities().empty()) << found.oddities()[0].text;
}

TEST(GpuMatrix, KnowsTheNicsNearestToEachGpu) {
  const GpuMatrix found = read(matrix);
  EXPECT_EQ(found.nearest_nics(1), std::vector<std::size_t>{4});
  EXPECT_EQ(found.nearest_nics(3), std::vector<std::size_t>{5});
}

TEST(GpuMatrix, IsTheSameWithSpacesColoursAndEndsOfLineOfWindows) {
  std::string spaced;
  for (const char c : matrix)
    spaced += c == '\t' ? std::string("    ") : c == '\n' ? "\r\n" : std::string(1, c);
  const GpuMatrix found = read(replaced(spaced, "GPU0", "\x1b[4mGPU0\x1b[0m"));
  expect_same_cells(found, read(matrix));
  EXPECT_EQ(found.devices()[2].numa, 1);
  EXPECT_TRUE(found.oddities().empty());
}

TEST(GpuMatrix, ReadsDevicesThatOlderDriversNameByTheirPorts) {
  const GpuMatrix found = read(
      "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\n"
      "GPU0\t X \tSOC\tPHB\t0-7\n"
      "GPU1\tSOC\t X \tSOC\t8-15\n"
      "mlx5_0\tPHB\tSOC\t X \n");
  EXPECT_EQ(found.nics(), 1);
  EXPECT_EQ(found.between(0, 1).link, MatrixLink::sys);
  EXPECT_FALSE(says(found, 0, "NIC legend"));
}

TEST(GpuMatrix, SaysThatItsLegendsAreMissing) {
  const GpuMatrix found = read(matrix.substr(0, matrix.find("Legend:")));
  EXPECT_TRUE(says(found, 0, "the legend is missing"));
  EXPECT_TRUE(says(found, 0, "the NIC legend is missing"));
  expect_same_cells(found, read(matrix));
}

TEST(GpuMatrix, FillsACutRowFromItsColumn) {
  const std::size_t cut = matrix.find("PXB\tSYS\t0-15");
  const std::string text = matrix.substr(0, cut) + matrix.substr(matrix.find('\n', cut));
  const GpuMatrix found = read(text);
  EXPECT_TRUE(says(found, 3, "row of GPU1 is cut: 4 of 6 links"));
  expect_same_cells(found, read(matrix));
}

TEST(GpuMatrix, FillsAMissingRowFromItsColumn) {
  const std::size_t row = matrix.find("NIC0\tPIX");
  const std::string text = matrix.substr(0, row) + matrix.substr(matrix.find("NIC1\tSYS"));
  const GpuMatrix found = read(text);
  EXPECT_TRUE(says(found, 0, "the row of NIC0 is missing"));
  expect_same_cells(found, read(matrix));
}

TEST(GpuMatrix, LeavesUnknownWhatNeitherRowSays) {
  const GpuMatrix found = read(matrix.substr(0, matrix.find("NIC0\tPIX")));
  EXPECT_EQ(found.between(4, 5).link, MatrixLink::unknown);
  EXPECT_TRUE(says(found, 0, "nothing says how NIC1 and NIC0 are joined"));
  EXPECT_EQ(found.between(4, 0).link, MatrixLink::pix);
}

TEST(GpuMatrix, TakesTheFartherOfTwoThatDiffer) {
  GpuMatrix found = read(replaced(matrix, "NIC0\tPIX", "NIC0\tNODE"));
  EXPECT_TRUE(says(found, 6, "NIC0 with GPU0 is NODE, the other way round PIX"));
  EXPECT_EQ(found.between(0, 4).link, MatrixLink::node);
  found = read(replaced(matrix, "GPU1\tNV6", "GPU1\tNV4"));
  EXPECT_TRUE(says(found, 3, "GPU1 with GPU0 is NV4, the other way round NV6"));
  EXPECT_EQ(found.between(0, 1).nvlinks, 4);
}

TEST(GpuMatrix, NamesACellThatIsNoLink) {
  const GpuMatrix found = read(replaced(matrix, "GPU2\tNV6", "GPU2\tNVx"));
  EXPECT_TRUE(says(found, 4, "'NVx' between GPU2 and GPU0 is no link"));
  expect_same_cells(found, read(matrix));
}

TEST(GpuMatrix, NoticesALostCellByItsDiagonal) {
  const GpuMatrix found = read(replaced(matrix, "GPU3\tNV6\t", "GPU3\t"));
  EXPECT_TRUE(says(found, 5, "GPU3 with itself is SYS instead of X"));
  EXPECT_TRUE(says(found, 5, "row of GPU3 is cut: 5 of 6 links"));
}

TEST(GpuMatrix, NoticesACellTooMany) {
  const GpuMatrix found = read(replaced(matrix, "GPU3\tNV6\t", "GPU3\tNV6\tNV6\t"));
  EXPECT_TRUE(says(found, 5, "more links than there are devices"));
}

TEST(GpuMatrix, JoinsRowsAndTitlesThatATerminalWrapped) {
  std::string text = replaced(matrix, "NIC1\tCPU Affinity", "\nNIC1\tCPU Affinity");
  text = replaced(text, "GPU2\tNV6\tNV6\t", "GPU2\tNV6\tNV6\n");
  const GpuMatrix found = read(text);
  expect_same_cells(found, read(matrix));
  EXPECT_EQ(found.devices()[2].cpus, "16-31");
  EXPECT_TRUE(says(found, 6, "rest of the row of GPU2"));
}

TEST(GpuMatrix, ReadsTheFirstOfTwoMatrices) {
  const std::string second = "\tGPU0\tGPU1\nGPU0\t X \tSYS\nGPU1\tSYS\t X \n";
  const GpuMatrix found = read(matrix + second);
  expect_same_cells(found, read(matrix));
  EXPECT_TRUE(says(found, 18, "second matrix"));
}

TEST(GpuMatrix, SaysThatRowsAreThereTwiceOrBelongToNoColumn) {
  const std::string row = "GPU1\tNV6\t X \tNV6\tNV6\tPXB\tSYS\t0-15\t0\t\tN/A\n";
  EXPECT_TRUE(says(read(replaced(matrix, row, row + row)), 4, "second row of GPU1"));
  EXPECT_TRUE(says(read(replaced(matrix, row, row + "GPU9\tNV6\t X \n")), 4,
                   "row of 'GPU9' has no column"));
  EXPECT_TRUE(says(read(replaced(matrix, "GPU1\tNV6", "GP1\tNV6")), 3, "row without a device"));
}

TEST(GpuMatrix, SuspectsAVirtualMachineWhereEveryNicIsEquallyFar) {
  std::string text = matrix;
  for (const char* near : {"PIX", "PXB", "NODE", "SYS"})
    for (std::size_t at = 0; (at = text.find(near, at)) != std::string::npos;)
      text.replace(at, std::string(near).size(), "PHB");
  EXPECT_TRUE(says(read(text), 0, "every NIC is PHB from every GPU"));
}

TEST(GpuMatrix, IsRefusedWithItsLineWhereItIsNone) {
  EXPECT_NE(error_of("").find("topo.txt: no matrix"), std::string::npos);
  EXPECT_NE(error_of("hello\n").find("no line of names such as GPU0"), std::string::npos);
  EXPECT_NE(error_of("\tGPU0\tGPU1\n").find("topo.txt:1: the matrix has names of 2 devices"),
            std::string::npos);
  EXPECT_NE(error_of("\tGPU0\tGPU1\tGPU0\n").find("topo.txt:1: column GPU0 is there twice"),
            std::string::npos);
  EXPECT_NE(error_of("\tGPU0\tGPU1\nGPU0\tX\tOK\nGPU1\tOK\tX\n", Fault::unsupported)
                .find("topo.txt:2: OK belongs to a matrix of another tool"),
            std::string::npos);
}

TEST(GpuMatrix, IsRefusedWhereItHasMoreDevicesThanAnyHost) {
  std::string titles;
  for (int i = 0; i < 5000; ++i) titles += " GPU" + std::to_string(i);
  EXPECT_NE(error_of(titles + "\n").find("more than 1024 devices"), std::string::npos);
}

}  // namespace
}  // namespace shardlab::sim
