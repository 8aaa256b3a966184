// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_NPY_H_
#define STREW_CLI_NPY_H_

#include <string>

#include "cli/array.h"
#include "cli/file.h"
#include "cli/progress.h"

namespace strew::cli {

// Reads a .npy file of version 1.0, 2.0 or 3.0, of either array order and either byte order, into
// an array of the machine's byte order. A file that is not exactly as long as its header says is
// refused. A path ARCHIVE.npz:NAME is that of an array in an archive. Throws std::runtime_error
// with one sentence.
Array ReadNpy(const std::string& path, Progress& progress);

// The same of a file that is open. The sentence has no path.
Array ReadNpy(InputFile& file, Progress& progress);

// The array of a regular .npy file, mapped into memory: writing elements changes the file. Throws
// std::runtime_error with one sentence.
Array MapNpy(const std::string& path);

// Writes version 1.0, all of the file or nothing. Throws std::runtime_error with one sentence.
void WriteNpy(const std::string& path, const Array& array, Progress& progress);

// The bytes of that file before the elements.
std::string NpyHead(const Array& array);

}  // namespace strew::cli

#endif  // STREW_CLI_NPY_H_
