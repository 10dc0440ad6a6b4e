// A plot as a gnuplot script, data included. Nothing of the data is read as a command: texts stand
// in single quotes, where gnuplot substitutes nothing, and numbers are written here.
#pragma once

#include <string>

#include "flopwise/report/plot/plot_data.h"

namespace flopwise {

enum class PictureFormat { kSvg, kPng };

// The picture goes to gnuplot's standard output. Written for gnuplot 5.4.
std::string plot_gnuplot(const PlotData& data, PictureFormat format);

}  // namespace flopwise
