// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <algorithm>
#include <cstddef>

#include <CLI/CLI.hpp>

namespace strew::cli {
namespace {

constexpr char kBash[] = "bash";
constexpr char kFish[] = "fish";

// A script may be installed on a machine other than that which printed it, so it asks the command.
constexpr char kSimd[] = "--simd";
constexpr char kBashSimdTargets[] =
    "$({ \"${1/#\\~/$HOME}\" info || strew info; } 2>/dev/null | sed -n 's/^SIMD targets: //p')";
constexpr char kFishSimdTargets[] =
    "(type -q strew; and strew info | string replace -rf '^SIMD targets: ' '' | string split ' ')";

// The choices of an option that CLI::IsMember checks, which describes itself as {a,b,c}. "" for all
// others.
std::string ChoicesOf(const CLI::Option& option, const char* simd_targets) {
  if (option.check_name(kSimd)) return simd_targets;
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return "";
  std::string choices = type.substr(begin + 1, end - begin - 1);
  std::replace(choices.begin(), choices.end(), ',', ' ');
  return choices;
}

std::vector<std::string> NamesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

// ---- bash ----

std::string BashChoices(const CLI::Option& option) { return ChoicesOf(option, kBashSimdTargets); }

std::string BashCase(const std::string& patterns, const std::string& words) {
  return "    " + patterns + ") words=\"" + words + "\" ;;\n";
}

// The words after an option with a value: its choices, or none, for which bash offers files.
std::string BashValues(const CLI::App& command) {
  std::string cases;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() || option->get_expected_max() == 0) continue;
    std::string patterns;
    for (const std::string& name : NamesOf(*option)) {
      patterns += (patterns.empty() ? "'" : "|'") + command.get_name() + " " + name + " '*";
    }
    cases += BashCase(patterns, BashChoices(*option));
  }
  return cases;
}

// Other words after a command: its options after a hyphen, else the choices of its arguments.
std::string BashWords(const CLI::App& command, const std::string& name, const std::string& more) {
  std::string options, arguments = more;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) arguments += BashChoices(*option) + " ";
    for (const std::string& given : NamesOf(*option)) options += given + " ";
  }
  return BashCase("'" + name + " '*' -'*", options) + BashCase("'" + name + " '*", arguments);
}

std::string Bash(const CLI::App& app) {
  std::string values, words, names;
  for (const CLI::App* command : app.get_subcommands({})) {
    values += BashValues(*command);
    words += BashWords(*command, command->get_name(), "");
    names += command->get_name() + " ";
  }
  return "# Completion of strew's command line by bash: strew completion bash\n"
         "_strew() {\n"
         "  local words='' current=${COMP_WORDS[COMP_CWORD]} IFS=$' \\t\\n'\n"
         "  local command=${COMP_WORDS[1]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  [ \"$COMP_CWORD\" -gt 1 ] || command=''\n"
         "  [ \"$previous\" != = ] || previous=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  [ \"$current\" != = ] || current=''\n"
         "  case \"$command $previous $current\" in\n" +
         values + BashWords(app, "", names) + words +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _strew strew\n";
}

// ---- fish ----

std::string Quoted(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return "'" + quoted + "'";
}

std::string FishOption(const std::string& condition, const CLI::Option& option) {
  const std::string choices = ChoicesOf(option, kFishSimdTargets);
  if (option.get_positional() && choices.empty()) return "";
  std::string line = "complete -c strew -n " + Quoted(condition);
  for (const std::string& name : option.get_lnames()) line += " -l " + name;
  for (const std::string& name : option.get_snames()) line += " -s " + name;
  if (option.get_expected_max() != 0) line += choices.empty() ? " -r" : " -x";
  if (!choices.empty()) line += " -a " + Quoted(choices);
  return line + " -d " + Quoted(option.get_description()) + "\n";
}

std::string Fish(const CLI::App& app) {
  std::string script = "# Completion of strew's command line by fish: strew completion fish\n";
  for (const CLI::Option* option : app.get_options()) {
    script += FishOption("__fish_use_subcommand", *option);
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    const std::string& name = command->get_name();
    script += "complete -c strew -f -n __fish_use_subcommand -a " + name + " -d " +
              Quoted(command->get_description()) + "\n";
    for (const CLI::Option* option : command->get_options()) {
      script += FishOption("__fish_seen_subcommand_from " + name, *option);
    }
  }
  return script;
}

}  // namespace

std::vector<std::string> Shells() { return {kBash, kFish}; }

std::string Completion(const CLI::App& app, const std::string& shell) {
  return shell == kBash ? Bash(app) : Fish(app);
}

}  // namespace strew::cli
