/* Right: the mode decides about the registration, and about its end in the same words. */
#include <cuda_runtime.h>
#include <stddef.h>
#include <stdlib.h>

enum mode { MODE_COPY, MODE_ZERO_COPY, MODE_UNIFIED };

struct image {
    enum mode mode;
    unsigned char *pixels;
    size_t bytes;
};

int image_open(struct image *im, size_t bytes, enum mode mode)
{
    im->mode = mode;
    im->bytes = bytes;
    im->pixels = aligned_alloc(4096, bytes);
    if (!im->pixels)
        return -1;
    if (im->mode == MODE_ZERO_COPY) {
        if (cudaHostRegister(im->pixels, bytes, cudaHostRegisterMapped) != cudaSuccess) {
            free(im->pixels);
            return -1;
        }
    }
    return 0;
}

void image_close(struct image *im)
{
    if (im->mode == MODE_ZERO_COPY)
        cudaHostUnregister(im->pixels);
    free(im->pixels);
}
