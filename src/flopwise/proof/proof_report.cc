#include "flopwise/proof/proof_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/base/text_table.h"

namespace flopwise {
namespace {

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::int64_t failed_rows(const Proof& proof) {
  return std::count_if(proof.rows.begin(), proof.rows.end(),
                       [](const ProofRow& row) { return row.mismatch.has_value(); });
}

std::int64_t failed_checks(const Proof& proof) {
  return std::count_if(proof.checks.begin(), proof.checks.end(),
                       [](const ProofCheck& check) { return check.failure.has_value(); });
}

std::string verdict(const ProofRow& row) {
  if (!row.mismatch) return fmt::format("equal in {}", row.comparisons);
  return "DIFFERS";
}

std::string mismatches(const Proof& proof) {
  std::string text;
  for (const ProofRow& row : proof.rows) {
    if (!row.mismatch) continue;
    text += fmt::format("DIFFERS: {} {} {} {}: {} predicts {}, counted {}\n  {}\n",
                        name_of(row.mode), row.block, name_of(row.pass), row.op, row.formula.str(),
                        row.mismatch->predicted.grouped(), row.mismatch->counted.grouped(),
                        row.mismatch->where);
  }
  for (const ProofCheck& check : proof.checks) {
    if (check.failure) text += fmt::format("FAILS: {}: {}\n", check.name, *check.failure);
  }
  return text;
}

std::string rows_text(const Proof& proof, Mode mode, const std::string& block) {
  TextTable table({
      {"pass",      Align::kLeft },
      {"op",        Align::kLeft },
      {"class",     Align::kLeft },
      {"formula",   Align::kLeft },
      {"predicted", Align::kRight},
      {"counted",   Align::kRight},
      {"verdict",   Align::kLeft }
  });
  for (const ProofRow& row : proof.rows) {
    if (row.mode != mode || row.block != block) continue;
    table.add_row({name_of(row.pass), row.op, name_of(row.op_class), row.formula.str(),
                   row.predicted.grouped(), row.counted.grouped(), verdict(row)});
  }
  return fmt::format("{}: {}\n{}\n", name_of(mode), block, table.str());
}

std::string checks_text(const Proof& proof) {
  TextTable table({
      {"check",       Align::kLeft },
      {"claim",       Align::kLeft },
      {"comparisons", Align::kRight},
      {"verdict",     Align::kLeft }
  });
  for (const ProofCheck& check : proof.checks) {
    std::string result = "holds";
    if (check.failure) {
      result = "FAILS";
    } else if (check.allowed > 0) {
      result = fmt::format("holds to {:.1e}", check.worst);
    }
    table.add_row({check.name, check.claim, Count(check.comparisons).grouped(), result});
  }
  return table.str();
}

std::string summary(const Proof& proof) {
  const std::int64_t failed = failed_rows(proof) + failed_checks(proof);
  const std::string verdict =
      failed == 0
          ? "proven"
          : fmt::format("NOT PROVEN: {} of {} rows and {} of {} checks fail", failed_rows(proof),
                        proof.rows.size(), failed_checks(proof), proof.checks.size());
  return fmt::format(
      "{}: {}\n  {} operations in {} steps at {} draws of sizes; {} counts compared, {} counted "
      "scalar operations\n",
      proof.model, verdict, proof.rows.size(), Count(proof.runs).grouped(), proof.draws.size(),
      Count(proof.comparisons).grouped(), proof.operations.grouped());
}

// Which proof covers which models.
std::string coverage(const std::vector<Proof>& proofs) {
  std::size_t models = 0;
  std::string lines;
  for (const Proof& proof : proofs) {
    models += proof.models.size();
    if (proof.models.size() == 1) continue;
    std::string line = proof.model + ":";
    for (std::size_t i = 1; i < proof.models.size(); ++i) {
      const std::string name = " " + proof.models[i];
      if (line.size() + name.size() > 100) {
        lines += line + "\n";
        line = " ";
      }
      line += name;
    }
    lines += line + "\n";
  }
  return fmt::format(
      "\n{} models, {} proofs. A proof also covers each model that shrinks to the same at every "
      "draw:\n\n{}",
      models, proofs.size(), lines);
}

Json row_json(const ProofRow& row) {
  Json mismatch = nullptr;
  if (row.mismatch) {
    mismatch = Json::object()
                   .add("where", row.mismatch->where)
                   .add("predicted", row.mismatch->predicted)
                   .add("counted", row.mismatch->counted);
  }
  return Json::object()
      .add("mode", name_of(row.mode))
      .add("block", row.block)
      .add("pass", name_of(row.pass))
      .add("name", row.op)
      .add("class", name_of(row.op_class))
      .add("formula", row.formula.str())
      .add("predicted", row.predicted)
      .add("counted", row.counted)
      .add("comparisons", row.comparisons)
      .add("holds", !row.mismatch)
      .add("mismatch", std::move(mismatch));
}

Json check_json(const ProofCheck& check) {
  return Json::object()
      .add("name", check.name)
      .add("claim", check.claim)
      .add("comparisons", check.comparisons)
      .add("worst", check.worst)
      .add("allowed", check.allowed)
      .add("holds", !check.failure)
      .add("failure", check.failure ? Json(*check.failure) : Json(nullptr));
}

Json strings(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

Json proof_json(const Proof& proof) {
  Json rows = Json::array();
  for (const ProofRow& row : proof.rows) rows.push(row_json(row));
  Json checks = Json::array();
  for (const ProofCheck& check : proof.checks) checks.push(check_json(check));
  return Json::object()
      .add("model", proof.model)
      .add("models", strings(proof.models))
      .add("holds", proof.holds())
      .add("steps", proof.runs)
      .add("counts_compared", proof.comparisons)
      .add("counted_operations", proof.operations)
      .add("draws", strings(proof.draws))
      .add("branches", strings(proof.branches))
      .add("ops", std::move(rows))
      .add("checks", std::move(checks));
}

}  // namespace

std::string proof_text(const Proof& proof) {
  std::string text = fmt::format(
      "{}, shrunk and executed with counting scalars. Predicted and counted: the first draw, "
      "{}.\n\n",
      proof.model, proof.draws.empty() ? "" : proof.draws[0]);
  std::vector<std::pair<Mode, std::string>> blocks;
  for (const ProofRow& row : proof.rows) {
    const std::pair<Mode, std::string> block{row.mode, row.block};
    if (!contains(blocks, block)) blocks.push_back(block);
  }
  for (const auto& [mode, block] : blocks) text += rows_text(proof, mode, block);
  if (!proof.checks.empty()) text += checks_text(proof) + "\n";
  if (!proof.branches.empty()) {
    text += fmt::format("Branches of the pair counts taken: {}\n\n", joined(proof.branches, ", "));
  }
  return text + mismatches(proof) + summary(proof);
}

std::string proofs_text(const std::vector<Proof>& proofs) {
  TextTable table({
      {"model",              Align::kLeft },
      {"models",             Align::kRight},
      {"ops",                Align::kRight},
      {"draws",              Align::kRight},
      {"steps",              Align::kRight},
      {"counts compared",    Align::kRight},
      {"counted operations", Align::kRight},
      {"checks",             Align::kRight},
      {"verdict",            Align::kLeft }
  });
  std::string failures;
  for (const Proof& proof : proofs) {
    std::int64_t checked = 0;
    for (const ProofCheck& check : proof.checks) checked += check.comparisons;
    table.add_row({proof.model, std::to_string(proof.models.size()),
                   std::to_string(proof.rows.size()), std::to_string(proof.draws.size()),
                   Count(proof.runs).grouped(), Count(proof.comparisons).grouped(),
                   proof.operations.grouped(), Count(checked).grouped(),
                   proof.holds() ? "proven" : "NOT PROVEN"});
    if (!proof.holds()) failures += fmt::format("\n{}\n{}", proof.model, mismatches(proof));
  }
  return table.str() + failures + coverage(proofs);
}

Json proofs_json(const std::vector<Proof>& proofs) {
  Json list = Json::array();
  for (const Proof& proof : proofs) list.push(proof_json(proof));
  return Json::object().add("schema", 1).add("proofs", std::move(list));
}

}  // namespace flopwise
