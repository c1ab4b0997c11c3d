#include "aggregator/unsupervised/output_path.h"

#include <cstring>

#include "aggregator/basics/decimal_text.h"

namespace memprof {

void OutputPath::Add(char c) {
  if (bytes_ < kLongest) text_[bytes_] = c;
  ++bytes_;
}

void OutputPath::Add(const char* text) {
  for (; *text != 0; ++text) Add(*text);
}

void OutputPath::AddNumber(uint32_t number) { Add(DecimalText(number).text()); }

// Expands a part of the pattern. %p becomes `pid_text`, or the number if there is none.
void OutputPath::AddExpanded(const char* from, const char* to, const char* pid_text, uint32_t pid) {
  for (const char* at = from; at < to; ++at) {
    if (*at != '%' || at + 1 == to) {
      Add(*at);
      continue;
    }
    switch (*++at) {
      case 'p':
        if (pid_text != nullptr) {
          Add(pid_text);
        } else {
          AddNumber(pid);
        }
        break;
      case 'n':
        Add(program_);
        break;
      case '%':
        Add('%');
        break;
      default:
        Add('%');
        Add(*at);
    }
  }
}

const char* OutputPath::Done() {
  if (bytes_ > kLongest) return nullptr;
  text_[bytes_] = 0;
  return text_;
}

bool OutputPath::Init(const char* pattern, const char* directory, const char* program) {
  const size_t pattern_bytes = strlen(pattern);
  const size_t directory_bytes = pattern[0] == '/' ? 0 : strlen(directory) + 1;
  if (pattern_bytes == 0 || pattern[pattern_bytes - 1] == '/' ||
      pattern_bytes + directory_bytes > kLongest) {
    return false;
  }
  if (directory_bytes != 0) {
    memcpy(pattern_, directory, directory_bytes - 1);
    pattern_[directory_bytes - 1] = '/';
  }
  memcpy(pattern_ + directory_bytes, pattern, pattern_bytes + 1);
  const size_t program_bytes = strlen(program);
  if (program_bytes <= kLongestProgram) memcpy(program_, program, program_bytes + 1);
  base_ = strrchr(pattern_, '/') + 1;
  extension_ = strrchr(base_, '.');
  if (extension_ == nullptr || extension_ == base_) extension_ = base_ + strlen(base_);
  for (const char* at = base_; *at != 0; ++at) {
    if (at[0] != '%' || at[1] == 0) continue;
    if (at[1] == 'p') {
      has_pid_ = true;
      if (at >= extension_) extension_ = at + strlen(at);  // "app.%p" has no extension
    }
    ++at;
  }
  return true;
}

const char* OutputPath::Name(uint32_t pid, uint32_t attempt) {
  bytes_ = 0;
  AddExpanded(pattern_, extension_, nullptr, pid);
  if (!has_pid_ && attempt > 1) {
    Add('.');
    AddNumber(pid);
    --attempt;
  }
  if (attempt > 1) {
    Add('.');
    AddNumber(attempt);
  }
  AddExpanded(extension_, extension_ + strlen(extension_), nullptr, pid);
  return Done();
}

const char* OutputPath::Folder() {
  bytes_ = 0;
  AddExpanded(pattern_, base_, nullptr, 0);
  return Done();
}

bool OutputPath::Fits(const char* file_name) {
  // Everything before the first %p, and the extension.
  const char* end = base_;
  while (end < extension_ && !(end[0] == '%' && end[1] == 'p')) {
    end += end[0] == '%' && end + 1 < extension_ ? 2 : 1;
  }
  bytes_ = 0;
  AddExpanded(base_, end, "", 0);
  const char* prefix = Done();
  const size_t prefix_bytes = bytes_;
  if (prefix == nullptr || strncmp(file_name, prefix, prefix_bytes) != 0) return false;
  bytes_ = 0;
  AddExpanded(extension_, extension_ + strlen(extension_), "", 0);
  const char* suffix = Done();
  const size_t name_bytes = strlen(file_name);
  return suffix != nullptr && name_bytes >= prefix_bytes + bytes_ &&
         strcmp(file_name + name_bytes - bytes_, suffix) == 0;
}

}  // namespace memprof
