// Runs the built program as a user does and keeps what it said.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/testing.h"

namespace flopwise {

struct Ran {
  int exit_status = -1;
  std::string out;
  std::string err;
};

inline std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A folder that belongs to the running test alone, since tests run side by side.
inline std::string own_folder() {
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  const std::string folder =
      testing::TempDir() + "flopwise_" + test.test_suite_name() + "_" + test.name() + "/";
  std::filesystem::create_directories(folder);
  return folder;
}

// `arguments` as a shell would read them, in a folder of the test's own; standard input is empty.
inline Ran run_program(const std::string& arguments) {
  const std::string folder = own_folder();
  const std::string out = folder + "stdout.txt";
  const std::string err = folder + "stderr.txt";
  const std::string command = "cd '" + folder + "' && '" + FLOPWISE_PROGRAM "' " + arguments +
                              " < /dev/null > '" + out + "' 2> '" + err + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(out), text_of(err)};
}

// A command line that is refused, and the line it says.
struct Refused {
  const char* arguments;
  const char* message;  // all of it behind "flopwise: "
};

// Exit status 2, nothing on stdout, that one line.
inline void expect_refused(const Refused& row) {
  SCOPED_TRACE(row.arguments);
  const Ran ran = run_program(row.arguments);
  EXPECT_EQ(ran.exit_status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, std::string("flopwise: ") + row.message + "\n");
}

}  // namespace flopwise
