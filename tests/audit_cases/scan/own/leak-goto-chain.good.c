/* Right: each failure enters the chain of labels at the step that undoes what was done so far. */
#include <hip/hip_runtime.h>
#include <stddef.h>

int send_pair(void *a, void *b, size_t n, void *device)
{
    int rc = -1;

    if (hipHostRegister(a, n, hipHostRegisterDefault) != hipSuccess)
        return -1;
    if (hipHostRegister(b, n, hipHostRegisterDefault) != hipSuccess)
        goto undo_a;
    if (hipMemcpy(device, a, n, hipMemcpyHostToDevice) != hipSuccess)
        goto undo_b;
    if (hipMemcpy(device, b, n, hipMemcpyHostToDevice) != hipSuccess)
        goto undo_b;
    rc = 0;

undo_b:
    (void)hipHostUnregister(b);
undo_a:
    (void)hipHostUnregister(a);
    return rc;
}
