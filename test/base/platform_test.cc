// SPDX-License-Identifier: Apache-2.0
//
// How many CPUs a thread may run on, where Linux tells and where a sandbox keeps it from telling,
// and how a worker leaves the CPU of its caller.
#include "base/platform.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

namespace strew_test {
namespace {

cpu_set_t Allowed() {
  cpu_set_t cpus;
  EXPECT_EQ(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
  return cpus;
}

// The CPU on which the calling thread is now, and no other from now on.
cpu_set_t StayOnThisCpu() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
  EXPECT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  return one;
}

// Runs it on a thread of its own: what it changes of that thread ends with it.
template <class Body>
void OnAThread(const Body& body) {
  std::thread(body).join();
}

// From now on the system answers an error to the calling thread when it asks for its CPUs. False if
// the system does not allow such a filter.
bool RefuseAffinity(int error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_getaffinity, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(CpuCount, IsThatOfTheThread) {
  const cpu_set_t cpus = Allowed();
  EXPECT_EQ(strew::CpuCount(), CPU_COUNT(&cpus));
  OnAThread([] {
    StayOnThisCpu();
    EXPECT_EQ(strew::CpuCount(), 1);
  });
}

// EINVAL is the answer to a set that is too small, and here to one of any size.
TEST(CpuCount, IsThatOfTheMachineWhereTheSystemDoesNotTell) {
  for (const int error : {EPERM, EINVAL}) {
    OnAThread([=] {
      if (!RefuseAffinity(error)) GTEST_SKIP() << "there are no filters of system calls";
      EXPECT_EQ(strew::CpuCount(), sysconf(_SC_NPROCESSORS_ONLN));
    });
  }
}

TEST(LeaveCpu, MovesTheThreadToAnotherOfItsCaller) {
  const cpu_set_t cpus = Allowed();
  if (CPU_COUNT(&cpus) < 2) GTEST_SKIP() << "this process may run on one CPU only";
  const strew::ThreadNumber caller = strew::CurrentThread();
  OnAThread([&] {
    const cpu_set_t one = StayOnThisCpu();
    const int32_t cpu = strew::CurrentCpu();
    strew::LeaveCpu(cpu, caller);
    EXPECT_NE(strew::CurrentCpu(), cpu);
    cpu_set_t expected;
    CPU_XOR(&expected, &cpus, &one);
    const cpu_set_t after = Allowed();
    EXPECT_TRUE(CPU_EQUAL(&after, &expected));
  });
}

TEST(LeaveCpu, LeavesAThreadAloneThatIsElsewhereOrHasNoOther) {
  OnAThread([] {
    const cpu_set_t one = StayOnThisCpu();
    const int32_t cpu = strew::CurrentCpu();
    for (const int32_t left : {-1, cpu + 1, cpu}) {
      strew::LeaveCpu(left, strew::CurrentThread());
      const cpu_set_t after = Allowed();
      EXPECT_TRUE(CPU_EQUAL(&after, &one)) << left;
    }
  });
}

TEST(LeaveCpu, LeavesAThreadAloneWhoseCallerHasEnded) {
  strew::ThreadNumber caller = 0;
  OnAThread([&] { caller = strew::CurrentThread(); });
  OnAThread([=] {
    const cpu_set_t one = StayOnThisCpu();
    strew::LeaveCpu(strew::CurrentCpu(), caller);
    const cpu_set_t after = Allowed();
    EXPECT_TRUE(CPU_EQUAL(&after, &one));
  });
}

}  // namespace
}  // namespace strew_test
