#include "flopwise/base/json.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/testing.h"

namespace flopwise {
namespace {

std::string parse_error_of(std::string_view text) {
  return user_error_of([&] { return parse_json(text, "config.json"); });
}

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

// ---- reading ---------------------------------------------------------------------------------

TEST(JsonRead, WhatIsNotJson) {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"",                                            "line 1, column 1: not JSON: unexpected end of input; expected '[', '{', or a literal"},
      {"{\"a\": tru}",                                "line 1, column 10: not JSON: invalid literal"                                        },
      {"{\n  \"a\": 1,\n}",                           "line 3, column 1: not JSON: unexpected '}'; expected string literal"                 },
      {"[1 2]",                                       "line 1, column 4: not JSON: unexpected number literal; expected ']'"                 },
      {"[1] x",                                       "line 1, column 5: not JSON: invalid literal"                                         },
      {"[\"\xff\"]",                                  "line 1, column 3: not JSON: invalid string: ill-formed UTF-8 byte"                   },
      {"\xff",                                        "line 1, column 1: not JSON: invalid literal"                                         },
      {"[1e999]",                                     "line 1, column 2: expected a number that fits a double, got '1e999'"                 },
      {"[1,\n  -1E+400]",                             "line 2, column 3: expected a number that fits a double, got '-1E+400'"               },
      {"[NaN NaN NaN}",                               "line 1, column 8: not JSON: unexpected string literal; expected ']'"                 },
      {"[\"NaN\", NaN, NaN, x]",                      "line 1, column 19: not JSON: invalid literal"                                        },
      {"{NaN: 1}",                                    "line 1, column 2: not JSON: invalid literal"                                         },
      {"[-NaN]",                                      "line 1, column 3: not JSON: invalid number; expected digit after '-'"                },
      {"{\"a\": 1, \"b\": {\"a\": 1, \"a\": 2}}",
       "line 1, column 24: key 'a' occurs twice in one object"                                                                              },
      {"{\"a\\nb\": 1, \"a\\u000ab\": 1}",
       "line 1, column 13: key 'a\\nb' occurs twice in one object"                                                                          },
      {"{\"a\": NaN, \"b\": \"a\\\":\",\n\"a\" : 1}",
       "line 2, column 1: key 'a' occurs twice in one object"                                                                               },
  };
  for (const Row& row : rows) {
    EXPECT_EQ(parse_error_of(row.text), std::string("config.json: ") + row.message) << row.text;
  }
}

TEST(JsonRead, PythonsNumbersBecomeTexts) {
  EXPECT_EQ(parse_json(R"({"a": NaN, "b": [Infinity, -Infinity], "c": "NaN \" Infinity"})", "x"),
            nlohmann::json::parse(
                R"({"a": "NaN", "b": ["Infinity", "-Infinity"], "c": "NaN \" Infinity"})"));
}

// A double would make them whole numbers, or 0.
TEST(JsonRead, NumbersThatWouldLoseTheirFractionBecomeTexts) {
  EXPECT_EQ(parse_json("[128255.99999999999999, 9007199254740993.5, -1.00000000000000000001e2, "
                       "1e-400, 12.5000000000000000000001]",
                       "x"),
            nlohmann::json::parse(R"(["128255.99999999999999", "9007199254740993.5",
                                      "-1.00000000000000000001e2", "1e-400", 12.5])"));
  EXPECT_EQ(
      parse_json("[4096.000, 1.25e2, 120e-1, 0.0, -0e-999999999999999999999, 0.1, 1e22]", "x"),
      nlohmann::json::parse("[4096.0, 125.0, 12.0, 0.0, -0.0, 0.1, 1e22]"));
  const nlohmann::json json = parse_json(R"({"V": 128255.99999999999999})", "config.json");
  EXPECT_EQ(user_error_of([&] { JsonFields(json, "config.json").integer("V", 1, 1 << 20); }),
            "config.json: V: expected a whole number of 1 ... 1048576, got "
            "'128255.99999999999999'");
}

TEST(JsonRead, NothingHidesBehindANulByte) {
  EXPECT_EQ(user_error_of([] { parse_json(std::string("{}\0{\"a\":1}", 10), "x"); }),
            "x: line 1, column 3: not JSON: a NUL byte");
}

// Time grows with the text: 100,000 objects in one array, which once took minutes.
TEST(JsonRead, ManyObjects) {
  std::string text = "[";
  for (int i = 0; i < 100000; ++i) text += R"({"a":1},)";
  text += "1]";
  EXPECT_EQ(parse_json(text, "x").size(), 100001);
}

TEST(JsonRead, DepthIsLimited) {
  EXPECT_EQ(parse_error_of(nested(64)), "no error");
  EXPECT_EQ(parse_error_of("\n" + nested(65)),
            "config.json: line 2, column 65: nested deeper than 64");
  EXPECT_EQ(parse_error_of(nested(1'000'000)),
            "config.json: line 1, column 65: nested deeper than 64");
  EXPECT_EQ(parse_error_of("\"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\""),
            "no error");  // inside a string nothing nests
  std::string many = "[";
  for (int i = 0; i < 100; ++i) many += "[],";
  EXPECT_EQ(parse_error_of(many + "1]"), "no error");
}

TEST(JsonRead, TextIsLimited) {
  EXPECT_EQ(parse_error_of(std::string(kMaxJsonBytes + 1, ' ')), "config.json: larger than 16 MiB");
}

class JsonFile : public testing::Test {
 protected:
  JsonFile() {
    char folder[] = "/tmp/flopwise_json_test.XXXXXX";
    FLOPWISE_CHECK(mkdtemp(folder) != nullptr, "a temporary folder");
    folder_ = folder;
  }
  ~JsonFile() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  static std::string error_of(const std::string& path) {
    return user_error_of([&] { return read_json_file(path); });
  }

 private:
  std::string folder_;
};

TEST_F(JsonFile, IsRead) {
  std::ofstream(path("a.json")) << "{\"a\": [1, 2]}";
  EXPECT_EQ(read_json_file(path("a.json"))["a"][1], 2);
}

TEST_F(JsonFile, Refused) {
  std::ofstream(path("bad.json")) << "[1,\n2";
  EXPECT_EQ(
      error_of(path("bad.json")),
      path("bad.json") + ": line 2, column 2: not JSON: unexpected end of input; expected ']'");
  EXPECT_EQ(error_of(path("none.json")), path("none.json") + ": No such file or directory");
  EXPECT_EQ(error_of(path("")), path("") + ": is a directory, expected a JSON file");
  std::ofstream(path("large.json")) << "";
  std::filesystem::resize_file(path("large.json"), std::uintmax_t{1} << 40);  // sparse
  EXPECT_EQ(error_of(path("large.json")), path("large.json") + ": larger than 16 MiB");
  EXPECT_EQ(error_of("/dev/zero"), "/dev/zero: larger than 16 MiB");
  EXPECT_EQ(error_of(path("a\nb")), path("a\\nb") + ": No such file or directory");
}

TEST_F(JsonFile, APipeIsReadToItsEnd) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([this] { std::ofstream(path("pipe")) << std::string(100'000, ' ') << "[7]"; });
  EXPECT_EQ(read_json_file(path("pipe"))[0], 7);
  writer.join();
}

TEST_F(JsonFile, APipeWithoutAWriterIsRefused) {
  ASSERT_EQ(mkfifo(path("nobody").c_str(), 0600), 0);
  EXPECT_EQ(user_error_of([this] { read_json_file(path("nobody")); }),
            path("nobody") + ": nobody writes to this pipe, expected a JSON file");
}

class Fields : public testing::Test {
 protected:
  nlohmann::json json_ = parse_json(R"({
    "d_model": 4096, "float": 4096.0, "half": 0.5, "negative": -3, "true": true, "null": null,
    "int64": 9223372036854775807, "uint64": 9223372036854775808, "huge": 18446744073709551616,
    "name": "llama", "long": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "texts": ["a", "b"], "mixed": ["a", 1], "integers": [1, 2.0],
    "inner": {"heads": "two\n", "deep": {"x": []}}
  })",
                                    "config.json");
  JsonFields fields_{json_, "config.json"};
};

TEST_F(Fields, Values) {
  EXPECT_TRUE(fields_.has("d_model"));
  EXPECT_FALSE(fields_.has("null"));
  EXPECT_FALSE(fields_.has("absent"));
  EXPECT_EQ(fields_.integer("d_model", 1, 4096), 4096);
  EXPECT_EQ(fields_.integer("float", 1, 4096), 4096);
  EXPECT_EQ(fields_.integer("int64", 0, INT64_MAX), INT64_MAX);
  EXPECT_EQ(fields_.integer_or("absent", 7, 1, 9), 7);
  EXPECT_EQ(fields_.integer_or("null", 7, 1, 9), 7);
  EXPECT_EQ(fields_.number_or("half", 1), 0.5);
  EXPECT_EQ(fields_.number_or("d_model", 1), 4096);
  EXPECT_EQ(fields_.number_or("null", 1), 1);
  EXPECT_TRUE(fields_.boolean_or("true", false));
  EXPECT_TRUE(fields_.boolean_or("absent", true));
  EXPECT_EQ(fields_.text("name"), "llama");
  EXPECT_EQ(fields_.text_or("absent", "x"), "x");
  EXPECT_EQ(fields_.texts_or("texts", {}), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(fields_.texts_or("absent", {"c"}), (std::vector<std::string>{"c"}));
  EXPECT_EQ(fields_.integers_or("integers", {}), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(fields_.integers_or("absent", {3}), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(fields_.raw("texts").size(), 2);
  EXPECT_TRUE(fields_.raw("absent").is_null());
  EXPECT_EQ(fields_.object("inner").object("deep").where("x"), "config.json: inner.deep.x");
}

TEST_F(Fields, Errors) {
  struct Row {
    std::function<void()> read;
    const char* message;
  };
  JsonFields& f = fields_;
  const Row rows[] = {
      {[&] { f.integer("absent", 1, 64); },                    "absent: missing, expected a whole number of 1 ... 64"},
      {[&] { f.integer("null", 1, 64); },                      "null: missing, expected a whole number of 1 ... 64"  },
      {[&] { f.integer("d_model", 1, 64); },
       "d_model: expected a whole number of 1 ... 64, got 4096"                                                      },
      {[&] { f.integer("negative", 0, INT64_MAX); },
       "negative: expected a whole number of at least 0, got -3"                                                     },
      {[&] { f.integer("d_model", INT64_MIN, 64); },
       "d_model: expected a whole number of at most 64, got 4096"                                                    },
      {[&] { f.integer_or("half", 1, INT64_MIN, INT64_MAX); },
       "half: expected a whole number that fits 64 bits, got 0.5"                                                    },
      {[&] { f.integer("uint64", INT64_MIN, INT64_MAX); },
       "uint64: expected a whole number that fits 64 bits, got 9223372036854775808"                                  },
      {[&] { f.integer("huge", INT64_MIN, INT64_MAX); },
       "huge: expected a whole number that fits 64 bits, got 1.8446744073709552e+19"                                 },
      {[&] { f.integer("true", 0, 1); },                       "true: expected a whole number of 0 ... 1, got true"  },
      {[&] { f.integer("long", 0, 1); },
       "long: expected a whole number of 0 ... 1, got "
       "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'"                                           },
      {[&] { f.number_or("name", 0); },                        "name: expected a number, got 'llama'"                },
      {[&] { f.boolean_or("d_model", true); },                 "d_model: expected true or false, got 4096"           },
      {[&] { f.text("absent"); },                              "absent: missing, expected a text"                    },
      {[&] { f.text("texts"); },                               "texts: expected a text, got an array"                },
      {[&] { f.text_or("half", ""); },                         "half: expected a text, got 0.5"                      },
      {[&] { f.texts_or("name", {}); },                        "name: expected an array of texts, got 'llama'"       },
      {[&] { f.texts_or("mixed", {}); },                       "mixed[1]: expected a text, got 1"                    },
      {[&] { f.integers_or("inner", {}); },
       "inner: expected an array of whole numbers, got an object"                                                    },
      {[&] { f.integers_or("mixed", {}); },
       "mixed[0]: expected a whole number that fits 64 bits, got 'a'"                                                },
      {[&] { f.object("absent"); },                            "absent: missing, expected a JSON object"             },
      {[&] { f.object("name"); },                              "name: expected a JSON object, got 'llama'"           },
      {[&] { f.object("inner").integer("heads", 1, 2); },
       "inner.heads: expected a whole number of 1 ... 2, got 'two\\n'"                                               },
      {[&] { f.object("inner").object("deep").object("x"); },
       "inner.deep.x: expected a JSON object, got an array"                                                          },
  };
  for (const Row& row : rows) {
    EXPECT_EQ(user_error_of(row.read), std::string("config.json: ") + row.message);
  }
  const nlohmann::json array = nlohmann::json::array();
  EXPECT_EQ(user_error_of([&] { JsonFields(array, "config.json"); }),
            "config.json: expected a JSON object, got an array");
}

// The names of a file's fields may hold anything.
TEST(JsonFields, PlacesAreOneLine) {
  const nlohmann::json json = {
      {"a\nb", 1}
  };
  const JsonFields fields(json, "f");
  EXPECT_EQ(fields.where("a\nb"), "f: a\\nb");
}

TEST(JsonFields, RemembersWhatWasRead) {
  const nlohmann::json json = {
      {"b", 1      },
      {"a", 1      },
      {"d", 1      },
      {"c", nullptr},
      {"e", 1      }
  };
  JsonFields fields(json, "x");
  fields.integer("a", 0, 1);
  fields.mark_read("d");
  fields.raw("absent");
  EXPECT_TRUE(fields.has("e"));  // asking is not reading
  EXPECT_EQ(fields.unread(), (std::vector<std::string>{"b", "c", "e"}));
}

// ---- writing ---------------------------------------------------------------------------------

TEST(JsonWrite, Scalars) {
  EXPECT_EQ(Json().str(), "null");
  EXPECT_EQ(Json(true).str(), "true");
  EXPECT_EQ(Json(-7).str(), "-7");
  EXPECT_EQ(Json(Count(1'000'000'000'000'000'000) * 1'000'000).str(), "1000000000000000000000000");
  EXPECT_EQ(Json(std::optional<Count>()).str(), "null");
  EXPECT_EQ(Json(std::optional<double>(0.5)).str(), "0.5");
  EXPECT_EQ(Json("text").str(), "\"text\"");
  EXPECT_EQ(Json(std::string_view("a\"b\\c\n\t\x01 \u00b5")).str(),
            "\"a\\\"b\\\\c\\u000a\\u0009\\u0001 \u00b5\"");
  EXPECT_EQ(Json("\xff").str(), "\"\ufffd\"");
}

TEST(JsonWrite, Doubles) {
  EXPECT_EQ(Json(3.0).str(), "3");
  EXPECT_EQ(Json(-0.0).str(), "0");
  EXPECT_EQ(Json(0.1).str(), "0.10000000000000001");
  EXPECT_EQ(Json(9007199254740991.0).str(), "9007199254740991");
  EXPECT_EQ(Json(9007199254740992.0).str(), "9007199254740992");
  EXPECT_EQ(Json(1e300).str(), "1.0000000000000001e+300");
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()).str(), "null");
  EXPECT_EQ(Json(-std::numeric_limits<double>::infinity()).str(), "null");
}

TEST(JsonWrite, Layout) {
  Json json = Json::object();
  json.add("b", 1).add("a", Json::array({1, "x", nullptr}));
  json.add("empty", Json::array()).add("none", Json::object());
  json.add("rows", Json::array({
                       Json::object({{"n", 1}}
                       ), 2
  }));
  json.add("long", Json::array({std::string(40, 'x'), std::string(40, 'y')}));
  EXPECT_EQ(json.str(),
            "{\n"
            "  \"b\": 1,\n"
            "  \"a\": [1, \"x\", null],\n"
            "  \"empty\": [],\n"
            "  \"none\": {},\n"
            "  \"rows\": [\n"
            "    {\n"
            "      \"n\": 1\n"
            "    },\n"
            "    2\n"
            "  ],\n"
            "  \"long\": [\n"
            "    \"" +
                std::string(40, 'x') +
                "\",\n"
                "    \"" +
                std::string(40, 'y') +
                "\"\n"
                "  ]\n"
                "}");
  EXPECT_EQ(
      json.add("c", 2).str(-1),
      "{\"b\":1,\"a\":[1,\"x\",null],\"empty\":[],\"none\":{},\"rows\":[{\"n\":1},2],\"long\":[\"" +
          std::string(40, 'x') + "\",\"" + std::string(40, 'y') + "\"],\"c\":2}");
}

TEST(JsonWrite, OnlyContainersGrow) {
  EXPECT_THROW(Json(1).push(2), InternalError);
  EXPECT_THROW(Json::array().add("a", 1), InternalError);
}

RC_GTEST_PROP(JsonProperty, WhatIsWrittenIsRead,
              (std::int64_t integer, double real, const std::vector<std::string>& texts)) {
  Json::Array items;
  for (const std::string& text : texts) items.emplace_back(text);
  Json json = Json::object();
  json.add("integer", integer).add("real", real).add("texts", Json::array(items));
  for (const int indent : {-1, 0, 2}) {
    const nlohmann::json read = parse_json(json.str(indent), "x");
    RC_ASSERT(read["integer"].get<std::int64_t>() == integer);
    RC_ASSERT(read["real"].get<double>() == real);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const bool is_ascii = std::all_of(texts[i].begin(), texts[i].end(),
                                        [](char c) { return static_cast<signed char>(c) >= 0; });
      if (is_ascii) RC_ASSERT(read["texts"][i] == texts[i]);
    }
  }
}

RC_GTEST_PROP(JsonProperty, AnyTextIsReadOrRefused, (const std::string& text)) {
  for (const std::string& variant : {text, "[" + text + "]", "{\"" + text}) {
    try {
      parse_json(variant, "x");
    } catch (const UserError& error) {
      RC_ASSERT(std::string(error.what()).find('\n') == std::string::npos);
    }
  }
}

}  // namespace
}  // namespace flopwise
