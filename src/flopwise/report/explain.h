// Whether a report shows how each number came about.
#pragma once

namespace flopwise {

enum class Explain { kNo, kYes };

}  // namespace flopwise
