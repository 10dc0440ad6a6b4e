#include "flopwise/report/einsum_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "flopwise/hardware/hardware.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

using testing::HasSubstr;
using testing::Not;

nlohmann::json json_of(const EinsumQuery& query) {
  return nlohmann::json::parse(einsum_json(answer_einsum(query)).str());
}

TEST(EinsumReport, JsonOfTheContract) {
  const nlohmann::json json = json_of({
      .expression = "A[B_X,D_Y] *_D W[D_Y,F]",
      .sizes = {"B=1024", "D=4Ki,F=16k"},
      .mesh = "X=4,Y=8,Z=4"
  });
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["axes"].dump(), R"({"B":"free","D":"contracting","F":"free"})");
  EXPECT_EQ(json["output"], "C[B,F]");
  EXPECT_EQ(json["flops"]["formula"], "2*B*D*F");
  EXPECT_EQ(json["flops"]["value"], 2LL * 1024 * 4096 * 16000);
  EXPECT_EQ(json["bytes"]["value"], 2LL * (1024 * 4096 + 4096 * 16000 + 1024 * 16000));
  const nlohmann::json& sharded = json["sharded"];
  EXPECT_EQ(sharded["flops_total"]["formula"], "2*B*D*F*Z");
  EXPECT_EQ(sharded["flops_total"]["value"], 4 * 2LL * 1024 * 4096 * 16000);
  EXPECT_EQ(sharded["flops_per_device"]["formula"], "2*B*D*F/(X*Y)");
  EXPECT_EQ(sharded["flops_per_device"]["value"], 2LL * 1024 * 4096 * 16000 / 32);
  EXPECT_EQ(sharded["output"], "C[B_X,F]");
  ASSERT_EQ(sharded["collectives"].size(), 1U);
  EXPECT_EQ(sharded["collectives"][0]["kind"], "all_reduce");
  EXPECT_EQ(sharded["collectives"][0]["mesh_axes"].dump(), R"(["Y"])");
  EXPECT_EQ(sharded["collectives"][0]["array"], "C");
  EXPECT_EQ(sharded["collectives"][0]["array_bytes"]["value"], 2 * 1024 * 16000 / 4);
  EXPECT_EQ(sharded["collectives"][0]["bytes"]["value"], 2 * 2 * 1024 * 16000 / 4 * 7 / 8);
}

TEST(EinsumReport, AValueIsNullWhileASizeIsMissing) {
  const nlohmann::json json = json_of({.expression = "ij,jk->ik", .sizes = {"i=4"}});
  EXPECT_EQ(json["flops"].dump(), R"({"formula":"2*k*i*j","value":null})");
  EXPECT_TRUE(json["bytes"]["value"].is_null());
  EXPECT_TRUE(json["intensity"]["value"].is_null());
  EXPECT_TRUE(json["sharded"]["flops_total"]["value"].is_null());
  EXPECT_TRUE(json["bound"].is_null());
}

TEST(EinsumReport, ShardedIsThereWithoutAMeshToo) {
  const nlohmann::json json = json_of({.expression = "ij,jk->ik"});
  EXPECT_EQ(json["sharded"]["flops_total"]["formula"], json["flops"]["formula"]);
  EXPECT_EQ(json["sharded"]["flops_per_device"]["formula"], json["flops"]["formula"]);
  EXPECT_EQ(json["sharded"]["output"], "C[i,k]");
  EXPECT_TRUE(json["sharded"]["collectives"].empty());
}

TEST(EinsumReport, BoundOnAChip) {
  const auto bound = [](const char* expression, const char* size) {
    return json_of({.expression = expression, .sizes = {size}, .hardware = "h100"})["bound"];
  };
  EXPECT_EQ(bound("ij,jk->ik", "i=8192,j=8192,k=8192"), "matrix");
  EXPECT_EQ(bound("ij,jk->ik", "i=1,j=8192,k=8192"), "memory");
  EXPECT_TRUE(bound("ij,ij->ij", "i=64,j=64").is_null());
  EXPECT_THAT(einsum_text(answer_einsum({.expression = "ij,ij->ij", .hardware = "h100"})),
              HasSubstr("No axis is contracted"));
}

TEST(EinsumReport, ShardingCanMakeAProductMemoryBound) {
  const EinsumQuery whole = {
      .expression = "A[B,D] * W[D,F]", .sizes = {"B=4k,D=4k,F=4k"}, .hardware = "h100"};
  EinsumQuery split = whole;
  split.expression = "A[B_X,D] * W[D,F]";
  split.mesh = "X=100";
  EXPECT_EQ(json_of(whole)["bound"], "matrix");
  EXPECT_EQ(json_of(split)["bound"], "memory");
}

TEST(EinsumReport, OrderOfThreeOperands) {
  const nlohmann::json json =
      json_of({.expression = "A[I,J] * B[J,K] * C[K,L]", .sizes = {"I=10,J=30,K=5,L=60"}});
  EXPECT_EQ(json["flops"]["value"], 2 * (10 * 30 * 5 + 10 * 5 * 60));
  EXPECT_EQ(json["naive_flops"]["value"], 3 * 10 * 30 * 5 * 60);
  ASSERT_EQ(json["order"].size(), 2U);
  EXPECT_EQ(json["order"][0]["inputs"].dump(), R"(["A[I,J]","B[J,K]"])");
  EXPECT_EQ(json["order"][0]["result"], "(A*B)[I,K]");
  EXPECT_EQ(json["order"][1]["inputs"].dump(), R"(["(A*B)[I,K]","C[K,L]"])");
  EXPECT_EQ(json["order"][1]["result"], "D[I,L]");
  EXPECT_EQ(json["peak_intermediate"]["array"], "(A*B)[I,K]");
  EXPECT_EQ(json["peak_intermediate"]["bytes"]["value"], 2 * 10 * 5);
}

TEST(EinsumReport, AnOrderThatRestsOnAssumedSizesSaysSo) {
  const EinsumQuery query = {.expression = "ij,jk,kl->il", .sizes = {"i=10,j=30"}};
  EXPECT_EQ(json_of(query)["order_assumes"].dump(), R"({"k":1024,"l":1024})");
  EXPECT_THAT(
      einsum_text(answer_einsum(query)),
      HasSubstr("The order was chosen with size 1024 for k, l, whose sizes are not given."));
  EXPECT_THAT(einsum_text(answer_einsum({.expression = "ij,jk->ik"})),
              Not(HasSubstr("was chosen")));
}

TEST(EinsumReport, ExplainPutsSizesIntoTheFormula) {
  const EinsumAnswer answer =
      answer_einsum({.expression = "A[B,D] * W[D,F]", .sizes = {"B=2,D=3,F=5"}});
  EXPECT_THAT(einsum_text(answer, Explain::kYes), HasSubstr("FLOPs = 2*B*D*F = 2*2*3*5 = 60\n"));
  EXPECT_THAT(einsum_text(answer), Not(HasSubstr("How the numbers come about")));
}

TEST(EinsumReport, AConflictIsToldToTheReader) {
  EXPECT_THAT(
      einsum_text(answer_einsum({.expression = "A[B_X,D] * W[D,F_X]", .sizes = {"B=8,D=8,F=16"}})),
      HasSubstr("A is gathered over X, the smaller of the two in bytes."));
}

// How to Scale Your Model, chapter 3: 32 MiB gathered over one axis of 4 TPU v4 (4.5e10 B/s a
// direction, both used): V/W is 377 us by the book, 373 exactly; three quarters of it are sent.
TEST(EinsumReport, CollectiveTimesOnATorus) {
  EinsumQuery query;
  query.expression = "A[B_X,D] *_D W[D,F] -> C[B,F]";
  query.sizes = {"B=2048,D=8192,F=8192"};
  query.mesh = "X=4";
  query.hardware = "tpu-v4";
  const EinsumAnswer answer = answer_einsum(query);
  ASSERT_EQ(answer.roofline->collectives.size(), 1U);
  const CollectiveTime& time = answer.roofline->collectives[0];
  const double ring = 2 * find_hardware("tpu-v4").link->peer_bytes_per_s->to_double();
  EXPECT_DOUBLE_EQ(*time.limit_time_s, 2048.0 * 8192 * 2 / ring);
  EXPECT_DOUBLE_EQ(*time.time_s, *time.limit_time_s * 3 / 4 + 2 * 1e-6);
}

// 8 GPUs of a node on Y inside, 4 nodes on X outside: an all-reduce over both crosses the network
// with an eighth.
TEST(EinsumReport, CollectiveTimesAcrossNodes) {
  EinsumQuery query;
  query.expression = "A[B,D_{X,Y}] *_D W[D_{X,Y},F]";
  query.sizes = {"B=1024,D=8192,F=4096"};
  query.mesh = "X=4,Y=8";
  query.hardware = "h100";
  const EinsumAnswer answer = answer_einsum(query);
  ASSERT_EQ(answer.roofline->collectives.size(), 1U);
  const double bytes = 1024.0 * 4096 * 2;
  EXPECT_DOUBLE_EQ(*answer.roofline->collectives[0].time_s,
                   2 * bytes * 7 / 8 / 450e9 + 2 * (bytes / 8) * 3 / 4 / 50e9);
}

}  // namespace
}  // namespace flopwise
