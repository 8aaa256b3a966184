/* SPDX-License-Identifier: Apache-2.0
 * A program in C that has strew in ONNX Runtime, with a runtime that it loads by its path. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <onnxruntime_c_api.h>

typedef const OrtApiBase *(*GetBase)(void);

/* What a run needs, to be released at its end. */
typedef struct {
  const OrtApi *api;
  OrtEnv *env;
  OrtSessionOptions *options;
  OrtSession *session;
  OrtMemoryInfo *memory;
  OrtValue *inputs[3];
  OrtValue *output;
} Program;

static OrtStatus *open_session(Program *p, const char *library, const char *model) {
  const OrtApi *api = p->api;
  OrtStatus *status = api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "strew", &p->env);
  if (!status) status = api->CreateSessionOptions(&p->options);
  if (!status) status = api->SetIntraOpNumThreads(p->options, 2);
  if (!status) status = api->RegisterCustomOpsLibrary_V2(p->options, library);
  if (!status) status = api->CreateSession(p->env, model, p->options, &p->session);
  if (!status) status = api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &p->memory);
  return status;
}

static OrtStatus *give(Program *p, int i, void *data, size_t bytes, const int64_t *shape,
                       size_t rank, ONNXTensorElementDataType type) {
  return p->api->CreateTensorWithDataAsOrtValue(p->memory, data, bytes, shape, rank, type,
                                                &p->inputs[i]);
}

/* Adds to data[4] at two places. */
static OrtStatus *run_model(Program *p, int32_t *data, int64_t *indices, int32_t *result) {
  const int64_t four = 4, two = 2, column[2] = {2, 1};
  int32_t updates[2] = {10, 20};
  const char *const names[3] = {"a", "b", "c"}, *const output = "output";
  const ONNXTensorElementDataType int32 = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
  const ONNXTensorElementDataType int64 = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
  OrtStatus *status = give(p, 0, data, 4 * sizeof *data, &four, 1, int32);
  if (!status) status = give(p, 1, indices, 2 * sizeof *indices, column, 2, int64);
  if (!status) status = give(p, 2, updates, sizeof updates, &two, 1, int32);
  if (!status) {
    status = p->api->Run(p->session, NULL, names, (const OrtValue *const *)p->inputs, 3, &output, 1,
                         &p->output);
  }
  void *memory = NULL;
  if (!status) status = p->api->GetTensorMutableData(p->output, &memory);
  if (!status) memcpy(result, memory, 4 * sizeof *result);
  return status;
}

static void release(Program *p) {
  p->api->ReleaseValue(p->output);
  for (int i = 0; i < 3; ++i) p->api->ReleaseValue(p->inputs[i]);
  p->api->ReleaseMemoryInfo(p->memory);
  p->api->ReleaseSession(p->session);
  p->api->ReleaseSessionOptions(p->options);
  p->api->ReleaseEnv(p->env);
}

/* Returns 0, or 1 with the sentence of the runtime in `text`, of 512 bytes. */
__attribute__((visibility("default"))) int scatter(const char *runtime, const char *library,
                                                   const char *model, int64_t index,
                                                   int32_t *result, char *text);

int scatter(const char *runtime, const char *library, const char *model, int64_t index,
            int32_t *result, char *text) {
  void *handle = dlopen(runtime, RTLD_NOW | RTLD_LOCAL);
  GetBase base = NULL;
  if (handle) *(void **)&base = dlsym(handle, "OrtGetApiBase");
  if (!base) return 2;
  Program program = {0};
  program.api = base()->GetApi(18);
  int32_t data[4] = {1, 2, 3, 4};
  int64_t indices[2] = {index, index};
  OrtStatus *status = open_session(&program, library, model);
  if (!status) status = run_model(&program, data, indices, result);
  if (status) snprintf(text, 512, "%s", program.api->GetErrorMessage(status));
  const int failed = status != NULL;
  program.api->ReleaseStatus(status);
  release(&program);
  return failed;
}
