/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <strew/strew.h>

int main(void) {
  const int64_t length = 4, stop = 4, start = 0, step = 2, slice = 2;
  float data[] = {1, 2, 3, 4}, two[] = {10, 20};
  strew_tensor *output = NULL, *updates = NULL;
  strew_status status = strew_tensor_create(STREW_FLOAT32, 1, &length, NULL, data, &output);
  if (!status) status = strew_tensor_create(STREW_FLOAT32, 1, &slice, NULL, two, &updates);
  if (!status) {
    status = strew_slice_scatter_int64(NULL, output, updates, 1, &start, &stop, &step, NULL,
                                       STREW_ADD, output);
  }
  printf("%s: %s: %g %g %g %g\n", strew_version(), strew_status_name(status), data[0], data[1],
         data[2], data[3]);
  strew_tensor_destroy(updates);
  strew_tensor_destroy(output);
  return status != STREW_OK || data[0] != 11 || data[2] != 23;
}
