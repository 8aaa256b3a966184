// SPDX-License-Identifier: Apache-2.0
//
// The report of a context after a call: the sentence, the position, the count.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "op/request.h"
#include "reference/handles.h"
#include "support/reference.h"

namespace strew_test {
namespace {

void ExpectMention(const Answer& answer, const std::string& text) {
  EXPECT_TRUE(answer.error.find(text) != std::string::npos)
      << "'" << answer.error << "' lacks '" << text << "'";
}

class Message : public testing::Test {
 protected:
  // indices [3, 6] on axis 1 of data [3, 4], all 0.
  static Request Elements() {
    Request request = GoodRequest(Operator::kScatterElements);
    request.indices.SetValues({3, 6}, Dims(18, 0));
    request.updates.SetShape({3, 6});
    return request;
  }

  Answer Refused(const Request& request, strew_status status) {
    const Answer answer = Send(request, context_.get());
    EXPECT_EQ(answer.status, status) << answer.error;
    EXPECT_FALSE(answer.wrote);
    return answer;
  }

  Answer OutOfRange(const Request& request) { return Refused(request, STREW_INDEX_OUT_OF_RANGE); }

  Context context_ = MakeContext();
};

TEST_F(Message, IndexOfElementsIsTheSentenceOfTheContract) {
  Request request = Elements();
  request.indices.values[2 * 6 + 5] = 7;
  const Answer answer = OutOfRange(request);
  EXPECT_EQ(answer.error,
            "indices[2,5] = 7 is out of range [-4, 3] for axis 1 of data, which has 4 elements");
  EXPECT_EQ(answer.position, 17);
}

TEST_F(Message, FirstOfSeveralBadIndicesIsNamed) {
  Request request = Elements();
  for (const size_t position : {7u, 8u, 17u}) request.indices.values[position] = -5;
  const Answer answer = OutOfRange(request);
  ExpectMention(answer, "indices[1,1] = -5 is out of range [-4, 3] for axis 1 of data");
  EXPECT_EQ(answer.position, 7);
}

// Row-major order of indices, not the order in memory.
TEST_F(Message, PositionDoesNotFollowStrides) {
  Request request = Elements();
  request.indices.layout.strides = {-1, -3};
  request.indices.offset += 17 * sizeof(int64_t);
  request.indices.values[4] = 4;
  request.indices.values[6] = 4;
  EXPECT_EQ(OutOfRange(request).position, 4);
}

TEST_F(Message, NegativeAxisIsNamedFromTheFront) {
  Request request = Elements();
  request.axis = -1;
  request.indices.values[0] = 4;
  ExpectMention(OutOfRange(request), "for axis 1 of data");
}

TEST_F(Message, IndexOfTupleIsNamedWithItsAxis) {
  Request request = GoodRequest(Operator::kScatterNd);
  request.indices.SetValues({2, 2}, {2, 3, 2, 4});
  request.updates.SetShape({2});
  Answer answer = OutOfRange(request);
  EXPECT_EQ(answer.error,
            "indices[1,1] = 4 is out of range [-4, 3] for axis 1 of data, which has 4 elements");
  EXPECT_EQ(answer.position, 3);

  request.indices.values = {-1, -1, -4, 0};
  answer = OutOfRange(request);
  EXPECT_EQ(answer.error,
            "indices[1,0] = -4 is out of range [-3, 2] for axis 0 of data, which has 3 elements");
  EXPECT_EQ(answer.position, 2);
}

// Both numbers of a tuple are the same one in memory, but each has an axis of its own.
TEST_F(Message, TupleThatRepeatsOneNumberIsJudgedByEachAxis) {
  Request request = GoodRequest(Operator::kScatterNd);
  request.data.SetShape({5, 3});
  request.output.SetShape({5, 3});
  request.indices.SetValues({2, 2}, {1, 1, 4, 4});
  request.indices.layout.strides = {1, 0};
  request.updates.SetShape({2});
  const Answer answer = OutOfRange(request);
  EXPECT_EQ(answer.error,
            "indices[1,1] = 4 is out of range [-3, 2] for axis 1 of data, which has 3 elements");
  EXPECT_EQ(answer.position, 3);
}

TEST_F(Message, RangeWithoutWrapStartsAtZero) {
  ASSERT_EQ(strew_context_set_negative_indices(context_.get(), 0), STREW_OK);
  Request request = Elements();
  request.indices.values[1] = -1;
  const Answer answer = OutOfRange(request);
  ExpectMention(answer, "indices[0,1] = -1 is out of range [0, 3] for axis 1 of data");
  EXPECT_EQ(answer.position, 1);
}

TEST_F(Message, LargeUnsignedIndexIsNotNegative) {
  Request request = Elements();
  request.indices.dtype = STREW_UINT64;
  request.indices.values[0] = -1;  // 2^64 - 1
  ExpectMention(OutOfRange(request), "indices[0,0] = 18446744073709551615 is out of range");
}

TEST_F(Message, SmallUnsignedIndexIsNotNegative) {
  Request request = Elements();
  request.indices.dtype = STREW_UINT8;
  request.indices.values[0] = -1;  // 255
  ExpectMention(OutOfRange(request), "indices[0,0] = 255 is out of range");
}

// 2^32 + 1 must not be taken for 1.
TEST_F(Message, IndexKeepsAll64Bits) {
  for (const int64_t value : {int64_t{4294967297}, -int64_t{4294967295}}) {
    Request request = Elements();
    request.indices.values[3] = value;
    ExpectMention(OutOfRange(request), "indices[0,3] = " + std::to_string(value));
  }
}

TEST_F(Message, NoIndexIntoAnEmptyAxisIsGood) {
  Request request = Elements();
  request.data.SetShape({3, 0});
  request.output.SetShape({3, 0});
  const Answer answer = OutOfRange(request);
  ExpectMention(answer, "indices[0,0] = 0");
  EXPECT_EQ(answer.position, 0);
}

TEST_F(Message, OneElementIsNotSeveral) {
  Request request = Elements();
  request.data.SetShape({3, 1});
  request.output.SetShape({3, 1});
  request.indices.values[2] = 1;
  EXPECT_EQ(OutOfRange(request).error,
            "indices[0,2] = 1 is out of range [-1, 0] for axis 1 of data, which has 1 element");
}

TEST_F(Message, OpaqueDtypesAreNamedWithTheirSize) {
  Request request = Elements();
  request.SetDtype(STREW_OPAQUE(20));
  request.updates.dtype = STREW_OPAQUE(4096);
  EXPECT_EQ(Refused(request, STREW_INVALID_DTYPE).error,
            "updates has dtype opaque[4096], but data has dtype opaque[20]");
  request.SetDtype(STREW_OPAQUE(1));
  request.reduction = STREW_ADD;
  EXPECT_EQ(Refused(request, STREW_INVALID_DTYPE).error,
            "reduction add is not defined on opaque[1]");
  request.indices.dtype = STREW_OPAQUE(8);
  EXPECT_EQ(Refused(request, STREW_INVALID_DTYPE).error,
            "indices has dtype opaque[8], which is not an integer dtype");
}

TEST_F(Message, DataOfRank0AndOutputOfAnotherRankAreNamed) {
  Request request = GoodRequest(Operator::kScatterNd);
  request.output.SetShape({3, 4, 1});
  ExpectMention(Refused(request, STREW_INVALID_SHAPE), "output has rank 3");
  request.data.SetShape({});
  request.output.SetShape({});
  request.indices.SetValues({2, 0}, {});
  request.updates.SetShape({2});
  ExpectMention(Refused(request, STREW_INVALID_SHAPE), "data has rank 0");
}

// Tuples one number too long, as well as much too long.
TEST_F(Message, TuplesLongerThanTheRankOfDataAreNamed) {
  for (const int64_t k : {3, 9}) {
    Request request = GoodRequest(Operator::kScatterNd);
    request.indices.SetValues({2, k}, Dims(static_cast<size_t>(2 * k), 0));
    request.updates.SetShape({2});
    EXPECT_EQ(Refused(request, STREW_INVALID_SHAPE).error,
              "indices has tuples of " + std::to_string(k) + " numbers, but data has rank 2");
  }
}

TEST_F(Message, IndicesOfRank0HaveNoTuples) {
  Request request = GoodRequest(Operator::kScatterNd);
  request.indices.SetValues({}, {1});
  EXPECT_EQ(Refused(request, STREW_INVALID_SHAPE).error,
            "indices has rank 0, but the rank must be 1 or more");
}

TEST_F(Message, EachDimOfIndicesButTheAxisFitsData) {
  for (const int64_t axis : {0, 1}) {
    Request request = GoodRequest(Operator::kScatterElements);
    request.axis = axis;
    const Dims shape = axis == 0 ? Dims{3, 5} : Dims{4, 4};
    request.indices.SetValues(shape, Dims(static_cast<size_t>(shape[0] * shape[1]), 0));
    request.updates.SetShape(shape);
    ExpectMention(Refused(request, STREW_INVALID_SHAPE), "dim " + std::to_string(1 - axis));
  }
}

TEST_F(Message, ShapeOfASliceIsToldInFull) {
  Request request = GoodRequest(Operator::kSliceScatter);
  request.updates.SetShape({3, 4});
  EXPECT_EQ(Refused(request, STREW_INVALID_SHAPE).error,
            "updates has shape [3,4], which cannot be broadcast to that of the slice, [2,4]");
}

TEST_F(Message, IndicesAreCheckedWhereNothingWouldBeWritten) {
  Request request = GoodRequest(Operator::kScatterNd);
  request.data.SetShape({3, 0});
  request.output.SetShape({3, 0});
  request.updates.SetShape({2, 0});
  request.indices.values = {1, 3};
  EXPECT_EQ(OutOfRange(request).position, 1);
  request.indices.values = {1, 2};
  const Answer answer = Send(request, context_.get());
  EXPECT_EQ(answer.status, STREW_OK) << answer.error;
  EXPECT_EQ(answer.applied, 0);
  EXPECT_FALSE(answer.wrote);
}

TEST_F(Message, AxisIsNamedWithItsValueAndRange) {
  Request request = Elements();
  request.axis = 5;
  const Answer answer = Refused(request, STREW_INVALID_AXIS);
  ExpectMention(answer, "5");
  ExpectMention(answer, "[-2, 1]");
}

TEST_F(Message, EntryOfAxesIsNamedWithItsPlaceValueAndRange) {
  for (const Operator op : {Operator::kSliceScatter, Operator::kSliceScatterInt64}) {
    Request request = GoodRequest(op);
    request.SetSlice({0, 0}, {2, 4}, {1, 1}, {0, -7});
    const Answer answer = Refused(request, STREW_INVALID_AXIS);
    ExpectMention(answer, "axes[1] = -7");
    ExpectMention(answer, "[-2, 1]");
  }
}

TEST_F(Message, StepOfZeroIsNamedWithItsPlace) {
  for (const Operator op : {Operator::kSliceScatter, Operator::kSliceScatterInt64}) {
    Request request = GoodRequest(op);
    request.SetSlice({0, 0}, {2, 4}, {1, 0}, {0, 1});
    ExpectMention(Refused(request, STREW_INVALID_ARGUMENT), "step[1]");
  }
}

TEST_F(Message, ArrayOfASliceThatIsNullIsNamed) {
  const std::vector<Operand Request::*> arrays = {&Request::start, &Request::stop, &Request::step};
  for (Operand Request::*const array : arrays) {
    Request request = GoodRequest(Operator::kSliceScatterInt64);
    (request.*array).null = true;
    const Answer answer = Refused(request, STREW_INVALID_ARGUMENT);
    EXPECT_EQ(answer.error, std::string((request.*array).name) + " is NULL");
  }
}

TEST_F(Message, WriteIndicesAreCountedBesideTheBatch) {
  Request request = GoodRequest(Operator::kTensorScatter);
  request.indices.SetList({0, 2});
  EXPECT_EQ(Refused(request, STREW_INVALID_SHAPE).error,
            "write_indices has 2 entries for a batch of 3");
}

TEST_F(Message, NegativePlaceInACircularCacheIsNamed) {
  Request request = GoodRequest(Operator::kTensorScatter);
  request.mode = STREW_CACHE_CIRCULAR;
  request.indices.values = {0, 9, -2};
  const Answer answer = OutOfRange(request);
  EXPECT_EQ(answer.error, "write_indices[2] = -2 is negative");
  EXPECT_EQ(answer.position, 2);
}

TEST_F(Message, SettersLeaveTheReportAlone) {
  Request request = Elements();
  request.indices.values[9] = 99;
  const Answer answer = OutOfRange(request);
  ASSERT_EQ(strew_context_set_negative_indices(context_.get(), 0), STREW_OK);
  ASSERT_EQ(strew_context_set_negative_indices(context_.get(), 2), STREW_INVALID_ARGUMENT);
  ASSERT_EQ(strew_context_set_simd_target(context_.get(), "no such target"), STREW_UNSUPPORTED);
  EXPECT_EQ(strew_context_error(context_.get()), answer.error);
  EXPECT_EQ(strew_context_error_position(context_.get()), 9);
}

TEST_F(Message, SuccessClearsTheReport) {
  Request request = Elements();
  request.indices.values[0] = 99;
  OutOfRange(request);
  const Answer answer = Send(Elements(), context_.get());
  EXPECT_EQ(answer.status, STREW_OK);
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.position, -1);
  EXPECT_EQ(answer.applied, 18);
}

}  // namespace
}  // namespace strew_test
