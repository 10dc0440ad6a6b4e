#include "flopwise/checkpoint/stored_type.h"

namespace flopwise {
namespace {

// Name, elements and bytes of a block. Source: huggingface/safetensors, safetensors/src/tensor.rs,
// enum Dtype and Dtype::bitsize.
constexpr StoredType kSafetensorsTypes[] = {
    {"BOOL",        1, 1},
    {"F4",          2, 1},
    {"F6_E2M3",     4, 3},
    {"F6_E3M2",     4, 3},
    {"U8",          1, 1},
    {"I8",          1, 1},
    {"F8_E5M2",     1, 1},
    {"F8_E4M3",     1, 1},
    {"F8_E8M0",     1, 1},
    {"F8_E4M3FNUZ", 1, 1},
    {"F8_E5M2FNUZ", 1, 1},
    {"I16",         1, 2},
    {"U16",         1, 2},
    {"F16",         1, 2},
    {"BF16",        1, 2},
    {"I32",         1, 4},
    {"U32",         1, 4},
    {"F32",         1, 4},
    {"C64",         1, 8},
    {"F64",         1, 8},
    {"I64",         1, 8},
    {"U64",         1, 8},
};

// Number, name, elements and bytes of a block. Source: ggml, include/ggml.h (enum ggml_type) and
// src/ggml-common.h (struct block_*; QK_K = 256). The bytes are the sums of those structs: Q4_K is
// 2 + 2 (scale and minimum, fp16) + 12 (scales of the 8 sub-blocks) + 128 (4 bits each) = 144.
constexpr GgmlType kGgmlTypes[] = {
    {0,  {"F32", 1, 4}       },
    {1,  {"F16", 1, 2}       },
    {2,  {"Q4_0", 32, 18}    },
    {3,  {"Q4_1", 32, 20}    },
    {4,  {"Q4_2", 0, 0}      },
    {5,  {"Q4_3", 0, 0}      },
    {6,  {"Q5_0", 32, 22}    },
    {7,  {"Q5_1", 32, 24}    },
    {8,  {"Q8_0", 32, 34}    },
    {9,  {"Q8_1", 32, 36}    },
    {10, {"Q2_K", 256, 84}   },
    {11, {"Q3_K", 256, 110}  },
    {12, {"Q4_K", 256, 144}  },
    {13, {"Q5_K", 256, 176}  },
    {14, {"Q6_K", 256, 210}  },
    {15, {"Q8_K", 256, 292}  },
    {16, {"IQ2_XXS", 256, 66}},
    {17, {"IQ2_XS", 256, 74} },
    {18, {"IQ3_XXS", 256, 98}},
    {19, {"IQ1_S", 256, 50}  },
    {20, {"IQ4_NL", 32, 18}  },
    {21, {"IQ3_S", 256, 110} },
    {22, {"IQ2_S", 256, 82}  },
    {23, {"IQ4_XS", 256, 136}},
    {24, {"I8", 1, 1}        },
    {25, {"I16", 1, 2}       },
    {26, {"I32", 1, 4}       },
    {27, {"I64", 1, 8}       },
    {28, {"F64", 1, 8}       },
    {29, {"IQ1_M", 256, 56}  },
    {30, {"BF16", 1, 2}      },
    {31, {"Q4_0_4_4", 0, 0}  },
    {32, {"Q4_0_4_8", 0, 0}  },
    {33, {"Q4_0_8_8", 0, 0}  },
    {34, {"TQ1_0", 256, 54}  },
    {35, {"TQ2_0", 256, 66}  },
    {36, {"IQ4_NL_4_4", 0, 0}},
    {37, {"IQ4_NL_4_8", 0, 0}},
    {38, {"IQ4_NL_8_8", 0, 0}},
    {39, {"MXFP4", 32, 17}   },
    {40, {"NVFP4", 64, 36}   },
    {41, {"Q1_0", 128, 18}   },
};

}  // namespace

std::span<const StoredType> safetensors_types() {
  return kSafetensorsTypes;
}

std::span<const GgmlType> ggml_types() {
  return kGgmlTypes;
}

std::optional<Count> stored_bytes(const StoredType& type, Count elements) {
  if (elements.value() % type.block_elements != 0) return std::nullopt;
  return Count::of(elements.value() / type.block_elements) * type.block_bytes;
}

}  // namespace flopwise
