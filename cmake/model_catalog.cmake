# The catalog of models, from data to C++: cmake -D OUTPUT=rows.cc -D "FILES=a.json;b.json" -P this.
# A file is {"publisher": "Meta", "models": [...]}; a model has a name, aliases, a source, and either
# config (the cost fields of its config.json) or letters. Rows keep the order of files and models.
cmake_minimum_required(VERSION 3.25)

set(aliases "")
set(rows "")
set(number 0)
foreach(file IN LISTS FILES)
  file(READ "${file}" text)
  string(JSON publisher GET "${text}" publisher)
  string(JSON models GET "${text}" models)
  string(JSON count LENGTH "${models}")
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON model GET "${models}" ${i})
    string(JSON name GET "${model}" name)
    string(JSON source GET "${model}" source)
    string(JSON description ERROR_VARIABLE no_config GET "${model}" config)
    if(no_config)
      string(JSON description GET "${model}" letters)
    endif()
    string(JSON names LENGTH "${model}" aliases)
    set(list "{}")
    if(names GREATER 0)
      math(EXPR last_name "${names} - 1")
      string(APPEND aliases "constexpr std::string_view kAliases${number}[] = {")
      foreach(j RANGE ${last_name})
        string(JSON alias GET "${model}" aliases ${j})
        string(APPEND aliases "\"${alias}\", ")
      endforeach()
      string(APPEND aliases "};\n")
      set(list "kAliases${number}")
    endif()
    string(APPEND rows "    {\"${publisher}\", \"${name}\", ${list}, R\"json(${description})json\",\n"
      "     \"${source}\"},\n")
    math(EXPR number "${number} + 1")
  endforeach()
endforeach()

file(WRITE "${OUTPUT}" "// Made by cmake/model_catalog.cmake from src/flopwise/model/catalog.
#include \"flopwise/model/read_model.h\"

namespace flopwise {
namespace {

${aliases}
constexpr CatalogModel kRows[] = {
${rows}};

}  // namespace

std::span<const CatalogModel> model_catalog() {
  return kRows;
}

}  // namespace flopwise
")
