#include "flopwise/mesh/mesh.h"

#include "tests/testing.h"

namespace flopwise {
namespace {

TEST(Mesh, AxesKeepTheirOrder) {
  const Mesh mesh = parse_mesh("Y=8, X=4,dp=2");
  EXPECT_EQ(mesh.str(), "Y=8,X=4,dp=2");
  EXPECT_EQ(mesh.devices(), Count(64));
  EXPECT_EQ(mesh.size_of("X"), 4);
  EXPECT_EQ(mesh.size_of("Z"), std::nullopt);
}

TEST(Mesh, SizesTakeSuffixes) {
  EXPECT_EQ(parse_mesh("X=1k").size_of("X"), 1000);
}

TEST(Mesh, TheDevicesOfAHugeMeshAreAnErrorNotAWrongNumber) {
  const Mesh mesh = parse_mesh("A=1024Gi,B=1024Gi,C=1024Gi,D=1024Gi");
  EXPECT_EQ(user_error_of([&] { return mesh.devices(); }).substr(0, 21), "devices of the mesh: ");
}

struct Row {
  const char* text;
  const char* message;
};

TEST(Mesh, WhatIsNotAMesh) {
  constexpr Row kRows[] = {
      {"",         "mesh: expected AXIS=SIZE such as X=4, got ''"                      },
      {"X",        "mesh: expected AXIS=SIZE such as X=4, got 'X'"                     },
      {"X=4,",     "mesh: expected AXIS=SIZE such as X=4, got ''"                      },
      {"=4",       "mesh: expected AXIS=SIZE such as X=4, got '=4'"                    },
      {"X_1=4",    "mesh: expected AXIS=SIZE such as X=4, got 'X_1=4'"                 },
      {"X=4,X=2",  "mesh: axis 'X' is given twice"                                     },
      {"X=0",      "mesh axis 'X': expected a whole number of 1 ... 2^40, got '0'"     },
      {"X=-4",     "mesh axis 'X': expected a whole number of 1 ... 2^40, got '-4'"    },
      {"X=1.5",    "mesh axis 'X': expected a whole number of 1 ... 2^40, got '1.5'"   },
      {"X=1025Gi", "mesh axis 'X': expected a whole number of 1 ... 2^40, got '1025Gi'"},
      {"X=nan",    "mesh axis 'X': expected a whole number of 1 ... 2^40, got 'nan'"   },
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(user_error_of([&] { return parse_mesh(row.text); }), row.message);
  }
}

}  // namespace
}  // namespace flopwise
