// SPDX-License-Identifier: Apache-2.0
// strew, the command: the library's operators on NumPy's .npy files.
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/operators.h"
#include "cli/options.h"
#include "cli/run.h"
#include "strew/strew.h"

namespace strew::cli {
namespace {

constexpr int kFailed = 1;
constexpr int kUsageError = 2;

constexpr char kFiles[] =
    "Files are .npy of versions 1.0 to 3.0, of either array order and either byte order. Dtypes: "
    "bool, int8 to\nint64, uint8 to uint64, float16 to float64, complex64 and complex128; S, U and "
    "V of up to 4096 bytes an\nelement with --reduction none. bfloat16 is written as V2 by "
    "ml_dtypes.\nThe result is in C order and native byte order. FILE of -o may be one of the "
    "inputs.\n"
    "Exit status: 0 success, 1 an operator or a file failed, 2 the command line is wrong.";

constexpr char kRepeat[] =
    "Call N times into one output, and report on standard error the time of the fastest call and "
    "its GB/s: 10^9 bytes of data, indices and updates read and of output written";

void AddOperator(CLI::App& app, const Operator& added, Options& options) {
  CLI::App& command = *app.add_subcommand(added.name, added.summary);
  const auto add_file = [&](const char* name, std::string& path, const char* description) {
    command.add_option(name, path, description)->required()->type_name("FILE");
  };
  add_file("data", options.data, "The array that a copy is made of");
  if (added.takes_indices) add_file("indices", options.indices, "Where the updates go");
  add_file("updates", options.updates, "The values, of the dtype of data");

  added.declare(command, options);
  command.add_option("--reduction", options.reduction, "How an update meets an element")
      ->check(CLI::IsMember(ReductionNames()))
      ->type_name("")
      ->capture_default_str();
  command.add_option("-o,--output", options.output, "Write the result there, do not print it")
      ->type_name("FILE");
  command.add_option("--repeat", options.repeat, kRepeat)
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command.add_option("--simd", options.simd_target, "Instruction set in place of the best one")
      ->check(CLI::IsMember(SimdTargets()))
      ->type_name("");
  command.footer(kFiles);
}

void PrintInfo() {
  std::string targets;
  for (const std::string& target : SimdTargets()) targets += " " + target;
  Print(std::string("version: ") + strew_version() + "\n" +  //
        "SIMD target: " + strew_simd_target() + "\n" +       //
        "SIMD targets available:" + targets + "\n" +         //
        "threads: 1\n");
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Scatter updates into arrays of .npy files.", "strew");
  app.set_version_flag("--version", std::string("strew ") + strew_version());
  app.require_subcommand(1);
  for (const Operator& added : Operators()) AddOperator(app, added, options);
  app.add_subcommand("info", "Print the version, the SIMD targets and the threads");
  app.footer("'strew COMMAND --help' explains a command.");

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "strew: %s\nRun 'strew --help' for the usage.\n", error.what());
    return kUsageError;
  }

  for (const Operator& chosen : Operators()) {
    if (app.got_subcommand(chosen.name)) RunOperator(chosen, options);
  }
  if (app.got_subcommand("info")) PrintInfo();
  return 0;
}

}  // namespace
}  // namespace strew::cli

int main(int argc, char** argv) {
  try {
    return strew::cli::Main(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "strew: out of memory\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "strew: %s\n", error.what());
  }
  return strew::cli::kFailed;
}
