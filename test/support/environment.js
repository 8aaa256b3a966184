// SPDX-License-Identifier: Apache-2.0
// Programs of WebAssembly see no environment unless they are given it: the tests take that of Node.js.
Module['preRun'] = () => Object.assign(ENV, process.env);
