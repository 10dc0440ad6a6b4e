"""./fuzz calls this: runs the programs of build/fuzz for a time of CPU each, two at a time.

usage: fuzz.py TIME [TARGET...]     TIME: minutes, or seconds as 20s
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "fuzz"
TARGETS = ["config", "letters", "einsum", "safetensors", "gguf"]

# Sources whose quoted words are the words of a format: the fuzzer's dictionary.
WORDS = {
    "config": ["model/families.cc", "model/families/*.cc"],
    "letters": ["model/letters.cc"],
    "einsum": ["graph/einsum_text.cc"],
    "safetensors": ["checkpoint/safetensors.cc", "checkpoint/stored_type.cc"],
    "gguf": ["checkpoint/gguf.cc", "checkpoint/checkpoint.cc"],
}

INTERRUPTED = 72  # libFuzzer's exit status after SIGINT or SIGTERM
TURN_S = 180  # of CPU; a turn begins with a run over the whole corpus, which may take 20
# Without a report of slow inputs: what takes more than 10 seconds is a finding, all else is fine.
LIMITS = ["-timeout=10", "-report_slow_units=60", "-rss_limit_mb=512", "-max_len=16384"]
ENVIRONMENT = {
    **os.environ,
    # A smaller quarantine than ASan's 256 MB: what is freed counts against the limit of 512.
    "ASAN_OPTIONS": "quarantine_size_mb=32:detect_leaks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


def seconds_of(text):
    unit = 1 if text.endswith("s") else 60
    try:
        seconds = float(text.removesuffix("s")) * unit
    except ValueError:
        seconds = 0
    if not seconds >= 1:
        sys.exit(f"fuzz: expected minutes such as 30 or seconds such as 20s, got {text!r}")
    return seconds


def write_dictionary(target):
    words = set()
    for pattern in WORDS[target]:
        for source in (ROOT / "src" / "flopwise").glob(pattern):
            if not source.name.endswith("_test.cc"):
                words |= set(re.findall(r'"([A-Za-z0-9_.]{1,40})"', source.read_text()))
    path = BUILD / "dictionaries" / f"{target}.dict"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f'"{word}"\n' for word in sorted(words)))
    return path


def cpu_s_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for_cpu_time(pid, seconds):
    """Lets a fuzzer run for that much CPU time; its status and usage."""
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), usage
        if cpu_s_of(pid) >= seconds:
            os.kill(pid, signal.SIGUSR1)  # libFuzzer ends after the current input
        time.sleep(0.2)


class Target:
    """One fuzzer and what it has done so far."""

    def __init__(self, name):
        self.name = name
        self.corpus = BUILD / "corpus" / name
        self.findings = BUILD / "findings" / name
        self.cpu_s = 0.0
        self.executions = 0
        self.coverage = "0"
        self.found = []
        self.interrupted = False
        self.corpus.mkdir(parents=True, exist_ok=True)
        self.findings.mkdir(parents=True, exist_ok=True)
        self.dictionary = write_dictionary(name)

    def left_s(self, seconds):
        return 0 if self.found or self.interrupted else max(0, int(seconds - self.cpu_s))

    def run(self, seconds):
        before = set(self.findings.iterdir())
        log = BUILD / f"{self.name}.log"
        seeds = ROOT / "tests" / "fuzz"
        folders = [seeds / "corpus" / self.name, seeds / "regressions" / self.name]
        command = [BUILD / f"{self.name}_fuzz", *LIMITS, f"-dict={self.dictionary}",
                   f"-artifact_prefix={self.findings}/", "-print_final_stats=1", self.corpus, *filter(pathlib.Path.is_dir, folders)]
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output, env=ENVIRONMENT,
                                       cwd=BUILD)
            process.returncode, usage = wait_for_cpu_time(process.pid, seconds)
        self.cpu_s += usage.ru_utime + usage.ru_stime
        text = log.read_text(errors="replace")
        executed = re.search(r"stat::number_of_executed_units: (\d+)", text)
        self.executions += int(executed.group(1)) if executed else 0
        coverage = re.findall(r"cov: (\d+)", text)
        self.coverage = coverage[-1] if coverage else self.coverage
        self.found = sorted(set(self.findings.iterdir()) - before)
        self.interrupted = process.returncode == INTERRUPTED
        if process.returncode != 0 and not self.interrupted and not self.found:
            self.found = [log]

    def line(self):
        state = "interrupted" if self.interrupted else "no findings"
        found = " ".join(str(path.relative_to(ROOT)) for path in self.found)
        return (f"{self.name:<12} {self.cpu_s / 60:6.1f} CPU-min {self.executions:>12,} executions"
                f" {self.coverage:>6} edges {len(list(self.corpus.iterdir())):>6} files"
                f"  {'found: ' + found if found else state}")


def run_all(targets, seconds):
    """By turns, so that each target gets on when the machine is busy with other things."""
    waiting = collections.deque(targets)

    def work():
        while waiting:
            target = waiting.popleft()
            target.run(min(TURN_S, target.left_s(seconds)))
            if target.left_s(seconds) > 0:
                waiting.append(target)

    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for worker in [pool.submit(work) for _ in range(2)]:
            worker.result()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    seconds = seconds_of(sys.argv[1])
    names = sys.argv[2:] or TARGETS
    for name in names:
        if name not in TARGETS:
            sys.exit(f"fuzz: unknown target {name!r}, known: {' '.join(TARGETS)}")
    targets = [Target(name) for name in names]
    run_all(targets, seconds)
    for target in targets:
        print(target.line())
    if any(target.found for target in targets):
        return 1
    return 2 if any(target.interrupted for target in targets) else 0


if __name__ == "__main__":
    sys.exit(main())
