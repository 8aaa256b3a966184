// SPDX-License-Identifier: Apache-2.0
// The command strew: the library's operators on NumPy's .npy files.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/bench.h"
#include "cli/bench_plans.h"
#include "cli/completion.h"
#include "cli/context.h"
#include "cli/npz.h"
#include "cli/operators.h"
#include "cli/options.h"
#include "cli/platform.h"
#include "cli/run.h"
#include "cli/terminal.h"
#include "cli/verify.h"
#include "strew/strew.h"

namespace strew::cli {
namespace {

constexpr int kFailed = 1;
constexpr int kUsageError = 2;

constexpr char kName[] = "strew:";
constexpr char kGroup[] = "Commands";

constexpr char kCommonHelp[] =
    R"(Files are .npy of version 1.0, 2.0 or 3.0, in either array order and byte order; they may be pipes.
- is standard input or, after -o, standard output. Inputs may be arrays of an .npz archive, as
arrays.npz:NAME. Dtypes are bool, int8 to int64, uint8 to uint64, float16 to float64, complex64 and
complex128, and without a reduction also S, U and V, dates and structures of up to 4096 bytes an
element. Of the dtypes of ml_dtypes NumPy writes float8_e5m2 as f1, which is read as such, bfloat16 as
V2 and float8_e4m3fn as V1. The result has the dtype of the first file, in C order and native byte
order. -o may name one of the inputs.

--in-place maps the first file into memory and changes the elements that have updates, so that a file
may be larger than memory. Nothing is printed. A call that fails leaves the file as it was; one that
is interrupted leaves some elements changed.

--cast rounds to the nearest float, and drops the fraction for integer dtypes. A number that the dtype
of data cannot hold is an error.

--repeat reports on standard error the time of the fastest of N calls and its GB/s. The bytes
counted are those of the input files, which are read, and of the result, which is written. A plan is
made before the first call, and its indices do not count.

--threads makes no difference to the result. 0 stands for the CPUs that this process may run on, the
number that 'strew info' prints. A build without threads has one.

A run of more than a second shows a progress bar on standard error if that is a terminal.

Exit status: 0 success, 1 an operator or a file failed, 2 the command line is wrong.)";

constexpr char kBenchHelp[] =
    R"(ms is the time of the fastest call, GB/s what that moves at least. memcpy is the speed of a copy
of the output, or in place of the updates, on the same buffers: bytes read and bytes written count.
The two take turns. The first result of a row is compared with that of a plain loop. A row is named
after its operator, what it scatters, its reduction, and whether the output is new or in place:)";

constexpr char kPlanHelp[] =
    R"(plan.ROW is a row with indices by a plan. M/s are millions of entries a second, direct those of
the same call without a plan. plan.make creates the plan of 4 million random indices, and tells how
long each stage takes; direct is a call with these indices. plan.graph adds rows of 64 float32 along
2 million random edges between 200,000 nodes, by gather_scatter; direct stands for a gather by a plan
and a scatter-update without one.)";

constexpr char kVerifyHelp[] =
    R"(Calls of an operator that has plans are made again by one. For each of these operators there are
as many calls of gather and of gather_scatter.)";

// A subcommand and its action, which runs after the whole command line has been checked.
struct Command {
  const CLI::App* app;
  std::function<void()> run;
};
using Commands = std::vector<Command>;

std::string Joined(const std::vector<std::string>& words, char separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

// The words in lines that fit into 100 columns.
std::string Lines(const std::vector<std::string>& words) {
  constexpr std::size_t kColumns = 100;
  std::string text;
  std::size_t column = kColumns;
  for (const std::string& word : words) {
    column += 1 + word.size();
    if (column > kColumns) column = word.size();
    text += (column == word.size() ? "\n" : " ") + word;
  }
  return text;
}

void AddChoice(CLI::App& command, const std::string& name, std::string& choice,
               const std::vector<std::string>& choices, const std::string& description) {
  command.add_option(name, choice, description)
      ->check(CLI::IsMember(choices))
      ->option_text(Joined(choices, '|'));
}

void AddNumber(CLI::App& command, const char* name, int& number, int least,
               const char* description) {
  // Newer versions of CLI11 would take "2,3" for 23.
  const auto check_digits = [](const std::string& text) {
    const bool is_plain = text.find_first_not_of("+0123456789") == std::string::npos;
    return is_plain ? "" : "'" + text + "' is not a number";
  };
  command.add_option(name, number, description)
      ->check(CLI::Range(least, std::numeric_limits<int>::max()))
      ->check(check_digits)
      ->option_text("N");
}

void AddThreads(CLI::App& command, int& threads) {
  AddNumber(command, "--threads", threads, 0, "Run on N threads; 0: one for every CPU [1]");
}

void AddReduction(CLI::App& command, Options& options) {
  AddChoice(command, "--reduction", options.reduction, ReductionNames(),
            "How an update combines with the element that it meets [none]");
  command.add_flag("--exclude-self", options.exclude_self,
                   "The old value of an element takes no part in the reduction");
  command.add_flag("--wide", options.wide,
                   "Round floats of 8 and 16 bits once, not after every update");
}

// In a cache, positions never count from the end, and no two updates have the same place.
void AddPolicies(CLI::App& command, Operator op, Options& options) {
  AddChoice(command, "--out-of-range,--index-policy", options.out_of_range, IndexPolicyNames(),
            "What becomes of an update whose index is out of range [error]");
  if (Takes(op, "mode")) return;
  command.add_flag("--no-negative-indices", options.no_negative_indices,
                   "Negative indices do not count from the end");
  AddChoice(command, "--duplicates,--duplicate-policy", options.duplicates, DuplicatePolicyNames(),
            "Whether two updates of one element are an error [last]");
}

std::string RefuseEmpty(const std::string& path) {
  return path.empty() ? "needs the name of a file, or - for a standard stream" : "";
}

std::string RefuseArchive(const std::string& path) {
  if (!NpzMember(path)) return "";
  return "'" + path + "' cannot be written: the output must be a .npy file";
}

void AddOutput(CLI::App& command, Options& options) {
  CLI::Option* const output = command
                                  .add_option("-o,--output", options.output,
                                              "Write the result there instead of printing it")
                                  ->check(RefuseEmpty)
                                  ->check(RefuseArchive)
                                  ->option_text("FILE");
  AddNumber(command, "--repeat", options.repeat, 1, "Make N calls and report the fastest");
  command
      .add_flag("--in-place", options.in_place,
                "Write the result into the file of data; not with -o or --repeat")
      ->excludes(output)
      ->excludes("--repeat")
      ->option_text(" ");  // instead of these names
}

void AddOperator(CLI::App& app, Commands& commands, Operator op, Options& options) {
  CLI::App& command = *app.add_subcommand(CommandName(op), InfoOf(op).summary)->group(kGroup);
  const auto add_file = [&](const char* name, std::string& path, const char* description) {
    command.add_option(name, path, description)->required()->check(RefuseEmpty)->type_name("FILE");
  };
  const OperandNames& names = InfoOf(op).operands;
  add_file(names.data, options.data, "The array that a copy is made of");
  if (Takes(op, "indices")) add_file(names.indices, options.indices, "Where the updates go");
  add_file(names.updates, options.updates, "The values, of the dtype of data");

  DeclareAttributes(command, op, options);
  if (Takes(op, "reduction")) AddReduction(command, options);
  if (Takes(op, "indices")) AddPolicies(command, op, options);
  command.add_flag("--cast", options.cast, "Convert updates to the dtype of data");
  AddOutput(command, options);
  if (HasPlans(op)) {
    command.add_flag("--plan", options.plan, "Make a plan of the indices first, and scatter by it");
  }
  command.add_flag("--explain", options.explain,
                   "Tell how the call runs: threads, order, memory, and why");
  AddThreads(command, options.threads);
  AddChoice(command, "--simd", options.simd_target, SimdTargets(),
            "Instruction set to use instead of the best one");
  command.footer(HelpOf(op) + "\n" + kCommonHelp);
  commands.push_back({&command, [op, &options] { RunOperator(op, options); }});
}

void PrintInfo() {
  Print(std::string("version: ") + strew_version() + "\n" +     //
        "SIMD target: " + strew_simd_target() + "\n" +          //
        "SIMD targets: " + Joined(SimdTargets(), ' ') + "\n" +  //
        "threads: " + ThreadsText() + "\n");
}

void AddInfo(CLI::App& app, Commands& commands) {
  const CLI::App& command =
      *app.add_subcommand("info", "Print the version, the SIMD targets and the threads")
           ->group(kGroup);
  commands.push_back({&command, PrintInfo});
}

// Not a number is in no range, but CLI::Range() lets it pass.
std::string RefuseNan(const std::string& text) {
  return std::isnan(std::strtod(text.c_str(), nullptr)) ? "Value " + text + " is not a number" : "";
}

void AddBench(CLI::App& app, Commands& commands, BenchOptions& options) {
  std::vector<std::string> rows = WorkloadRows();
  const std::string listed = Lines(rows);
  for (const std::string& row : PlanRows()) rows.push_back(row);
  CLI::App& command =
      *app.add_subcommand("bench", "Time workloads on this machine beside memcpy, and plans")
           ->group(kGroup);
  command.add_option("rows", options.rows, "Which workloads, see below [a few that stand for all]")
      ->check(CLI::IsMember(rows))
      ->option_text("ROW ...");
  AddThreads(command, options.threads);
  command.add_option("--seconds", options.seconds, "Time each contestant of a row for S [0.5]")
      ->check(CLI::Range(0.0, 3600.0))
      ->check(RefuseNan)
      ->option_text("S");
  command.footer(kBenchHelp + listed + "\n\n" + kPlanHelp);
  commands.push_back({&command, [&options] { RunBench(options); }});
}

void AddVerify(CLI::App& app, Commands& commands, VerifyOptions& options) {
  CLI::App& command =
      *app.add_subcommand("verify", "Compare every SIMD target of this CPU with an oracle")
           ->group(kGroup);
  AddNumber(command, "--calls", options.calls, 1,
            "Random calls of each operator with each dtype [40]");
  command.add_option("--seed", options.seed, "Seed of the random calls [1]")->option_text("N");
  command.footer(kVerifyHelp);
  commands.push_back({&command, [&options] { RunVerify(options); }});
}

void AddCompletion(CLI::App& app, Commands& commands, std::string& shell) {
  CLI::App& command =
      *app.add_subcommand("completion", "Print the script by which a shell completes this command")
           ->group(kGroup);
  AddChoice(command, "shell", shell, Shells(), "The shell");
  command.get_option("shell")->required();
  command.footer(
      "bash: source <(strew completion bash)\n"
      "zsh: the same, after 'autoload -U bashcompinit && bashcompinit'\n"
      "fish: strew completion fish | source");
  commands.push_back({&command, [&app, &shell] { Print(Completion(app, shell)); }});
}

// "strew scatter-nd" if the command line names a subcommand, else "strew".
std::string CommandIn(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    return app.get_name() + " " + command->get_name();
  }
  return app.get_name();
}

std::string Complaint(const CLI::App& app, const std::string& first, const CLI::Error& error) {
  if (!app.get_subcommands().empty() || first.empty() || first[0] == '-') return error.what();
  std::string alike, all;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    const std::string& name = command->get_name();
    const bool is_alike =
        name.find(first) != std::string::npos || first.find(name) != std::string::npos;
    if (is_alike) alike += (alike.empty() ? "" : ", ") + name;
    all += (all.empty() ? "" : ", ") + name;
  }
  return "there is no command '" + first + "'; " +
         (alike.empty() ? "the commands are " + all : "did you mean " + alike + "?");
}

int Main(const std::vector<std::string>& arguments) {
  Options options;
  BenchOptions bench;
  VerifyOptions verify;
  std::string shell;
  Commands commands;
  CLI::App app("Scatter updates into arrays of .npy files.", "strew");
  app.set_version_flag("--version", std::string("strew ") + strew_version());
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
#if CLI11_VERSION_MAJOR > 2 || CLI11_VERSION_MINOR >= 6
  // Formulas and tables have line breaks of their own.
  app.get_formatter()->enable_footer_formatting(false);
#endif
  // At most one subcommand, so that a file may have the name of another.
  app.require_subcommand(0, 1);
  for (const Operator op : CommandOperators()) AddOperator(app, commands, op, options);
  AddInfo(app, commands);
  AddBench(app, commands, bench);
  AddVerify(app, commands, verify);
  AddCompletion(app, commands, shell);
  app.footer("'strew COMMAND --help' explains a command.");

  try {
    // The last word first, as CLI11 wants them.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    // Not left to CLI11, which then would not name an unknown command.
    if (app.get_subcommands().empty()) throw CLI::RequiredError("A command");
  } catch (const CLI::Success& help_or_version) {
    std::ostringstream text;
    const int status = app.exit(help_or_version, text, text);
    Print(text.str());
    return status;
  } catch (const CLI::ParseError& error) {
    const std::string name = CommandIn(app);
    const std::string first = arguments.empty() ? "" : arguments[0];
    std::fprintf(stderr, "%s %s\nRun '%s --help' for the usage.\n", Red(kName).c_str(),
                 Complaint(app, first, error).c_str(), name.c_str());
    return kUsageError;
  }

  for (const Command& command : commands) {
    if (command.app->parsed()) command.run();
  }
  return 0;
}

}  // namespace
}  // namespace strew::cli

int main(int argc, char** argv) {
  try {
    return strew::cli::Main(strew::cli::BeginProgram(argc, argv));
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s out of memory\n", strew::cli::Red(strew::cli::kName).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s %s\n", strew::cli::Red(strew::cli::kName).c_str(), error.what());
  }
  return strew::cli::kFailed;
}
