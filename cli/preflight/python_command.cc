#include "cli/preflight/python_command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace memprof {
namespace {

bool IsFile(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// The words of a script's first line, without "#!"; empty: it has none.
std::vector<std::string> InterpreterWords(const std::string& script) {
  std::ifstream file(script, std::ios::binary);
  std::string text(256, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (!text.starts_with("#!")) return {};
  std::istringstream line(text.substr(2, text.find('\n') - 2));
  std::vector<std::string> words;
  for (std::string word; line >> word;) words.push_back(word);
  return words;
}

std::string DefaultPython() {
  const char* environment = std::getenv("VIRTUAL_ENV");
  if (environment != nullptr && *environment != 0) {
    std::string own = std::string(environment) + "/bin/python3";
    if (access(own.c_str(), X_OK) == 0) return own;
  }
  return "python3";
}

}  // namespace

std::vector<std::string> CompletePythonCommand(std::vector<std::string> command,
                                               const std::string& python) {
  const std::string& first = command[0];
  std::vector<std::string> interpreter;
  if (first == "-m" || first == "-c") {
    interpreter = {DefaultPython()};
  } else if (first.ends_with(".py") && IsFile(first)) {
    interpreter = InterpreterWords(first);
    const bool runs_itself = !interpreter.empty() && access(first.c_str(), X_OK) == 0;
    // A name without a slash would be looked up in PATH.
    if (runs_itself && first.find('/') != std::string::npos && python.empty()) return command;
    if (interpreter.empty()) interpreter = {DefaultPython()};
  } else {
    return command;
  }
  if (!python.empty()) interpreter = {python};
  command.insert(command.begin(), interpreter.begin(), interpreter.end());
  return command;
}

}  // namespace memprof
