// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <algorithm>
#include <cstddef>

#include <CLI/CLI.hpp>

namespace strew::cli {
namespace {

constexpr char kBash[] = "bash";
constexpr char kFish[] = "fish";

// Of an option that CLI::IsMember checks, which describes itself as {a,b,c}. "" for all others.
std::string ChoicesOf(const CLI::Option& option) {
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

// What can follow a command: its options, and the choices of its arguments.
std::string WordsOf(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) words += ChoicesOf(*option) + " ";
    for (const std::string& name : NamesOf(*option)) words += name + " ";
  }
  return words;
}

std::string BashChoices(const CLI::App& command) {
  std::string cases;
  for (const CLI::Option* option : command.get_options()) {
    const std::string choices = ChoicesOf(*option);
    if (choices.empty()) continue;
    for (const std::string& name : NamesOf(*option)) {
      cases.append("    '" + command.get_name() + " " + name)
          .append("') words='" + choices + "' ;;\n");
    }
  }
  return cases;
}

std::string Bash(const CLI::App& app) {
  std::string choices, commands, all = WordsOf(app);
  for (const CLI::App* command : app.get_subcommands({})) {
    choices += BashChoices(*command);
    commands += "    " + command->get_name() + "' '*) words='" + WordsOf(*command) + "' ;;\n";
    all += command->get_name() + " ";
  }
  return "# Completion of strew's command line by bash: strew completion bash\n"
         "_strew() {\n"
         "  local words='' current=${COMP_WORDS[COMP_CWORD]} IFS=$' \\t\\n'\n"
         "  local command=${COMP_WORDS[1]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  [ \"$COMP_CWORD\" -gt 1 ] || command=''\n"
         "  case \"$command $previous\" in\n" +
         choices + "    ' '*) words='" + all + "' ;;\n" + commands +
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
  const std::string choices = ChoicesOf(option);
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
