// Facts for family_names_test.cc: a small configuration of a family, and the tensors that its
// checkpoint has.
#pragma once

namespace flopwise::made {

struct FamilyRow {
  const char* family;
  const char* config;
  // A tensor a line: name, axes. {0-2} in a name stands for each of these numbers.
  const char* tensors;
  // Elements of tensors that hold no parameter: copies, buffers, multi-token prediction.
  int besides = 0;
};

}  // namespace flopwise::made
