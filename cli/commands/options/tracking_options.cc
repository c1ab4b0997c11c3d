#include "cli/commands/options/tracking_options.h"

#include "cli/basics/option_checks.h"
#include "cli/basics/random_number.h"
#include "cli/basics/time_option.h"
#include "core/units.h"

namespace memprof {

void AddTrackingOptions(Arguments& arguments, TrackingFlags& flags) {
  arguments
      .Add("--sample", flags.sample,
           "Count samples only, one block in BYTES (512K, 2 MiB) on average, at next to no "
           "cost: figures are then estimates, and reports give their standard error; 0: all")
      .Check(SampleDistance)
      .TypeName("BYTES");
  arguments
      .Add("--temporary", flags.temporary_threshold,
           "Take a block for temporary if its thread frees it and allocated fewer than so "
           "many others meanwhile; 1 to 64")
      .Check(TemporaryThreshold)
      .TypeName("ALLOCATIONS")
      .ShowDefault();
  arguments.AddFlag(
      "--exact-peak", flags.exact_peak,
      "Order all events of all threads, so that the peak is exact to the byte; without it "
      "the peak of a heap of several threads is within 0.1 %, and the capture says so");
  arguments.AddFlag("--no-python", flags.no_python,
                    "Leave the functions of Python programs out of the stacks: only the native "
                    "code that runs them");
}

void AddPythonAllocatorsOption(Arguments& arguments, TrackingFlags& flags) {
  arguments.AddFlag("--trace-python-allocators", flags.python_allocators,
                    "Count each object of a Python program, at the cost of its time; without it "
                    "small objects are in the memory that the interpreter maps for them");
}

Result<TrackerOptions> ReadTrackingFlags(const TrackingFlags& flags) {
  TrackerOptions options;
  options.exact_peak = flags.exact_peak ? 1 : 0;
  options.python = flags.no_python ? 0 : 1;
  options.python_objects = flags.python_allocators ? 1 : 0;
  if (flags.no_python && flags.python_allocators) {
    return Fail(ErrorKind::kUsage,
                "--no-python takes no notice of a Python interpreter, and "
                "--trace-python-allocators counts its objects; give one");
  }
  options.temporary_threshold = flags.temporary_threshold;
  if (!flags.sample.empty()) options.sample_bytes = *ParseBytes(flags.sample);
  if (options.sample_bytes == 0) return options;
  options.sample_seed = RandomNumber();
  if (options.temporary_threshold != 1) {
    return Fail(ErrorKind::kUsage,
                "--temporary above 1 needs every event, and --sample leaves most out; give one");
  }
  return options;
}

void AddCommandLineOption(Arguments& arguments, bool& command_line) {
  arguments.AddFlag(
      "--command-line,!--no-command-line", command_line,
      "Keep the program's arguments in the capture (the default); --no-command-line: its "
      "name alone, where they tell what is secret");
}

void AddCaptureFileOptions(Arguments& arguments, std::string& output, bool& force) {
  arguments.Add("-o,--output", output, "The capture's file; %p is the pid, %n the program")
      .TypeName("FILE")
      .ShowDefault();
  arguments.AddFlag("-f,--force", force, "Overwrite an existing capture");
}

void AddCheckpointOption(Arguments& arguments, std::chrono::milliseconds& time) {
  AddTimeOption(arguments, "--checkpoint", time,
                "Write the capture each TIME while the program runs; 0: only at the end");
}

}  // namespace memprof
