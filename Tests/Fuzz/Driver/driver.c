// What libFuzzer calls, handed on to Swift.
#include <stddef.h>
#include <stdint.h>

int lifed_fuzz_begin(void);
int lifed_fuzz_one(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return lifed_fuzz_begin();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return lifed_fuzz_one(data, size);
}
