/* Writes a picture as PNG without compression, so that no library is needed */
#pragma once

#include <petscsys.h>

static void PNGNumber(unsigned char p[4], PetscInt64 v)
{
  for (int k = 0; k < 4; ++k) p[k] = (unsigned char)(v >> (24 - 8 * k));
}

/* The check sum of a chunk: CRC-32 of type and data */
static unsigned int PNGCrc(const unsigned char *p, size_t n)
{
  unsigned int table[256], crc = 0xffffffffU;

  for (unsigned int k = 0; k < 256; ++k) {
    table[k] = k;
    for (int bit = 0; bit < 8; ++bit) table[k] = (table[k] >> 1) ^ (table[k] & 1 ? 0xedb88320U : 0);
  }
  for (size_t k = 0; k < n; ++k) crc = (crc >> 8) ^ table[(crc ^ p[k]) & 255];
  return ~crc;
}

/* chunk: 8 bytes for length and type, the data, 4 bytes for the check sum */
static PetscErrorCode PNGChunk(FILE *file, const char type[], unsigned char *chunk, size_t n)
{
  PetscFunctionBegin;
  PNGNumber(chunk, (PetscInt64)n);
  for (int k = 0; k < 4; ++k) chunk[4 + k] = (unsigned char)type[k];
  PNGNumber(chunk + 8 + n, PNGCrc(chunk + 4, n + 4));
  PetscCheck(fwrite(chunk, 1, n + 12, file) == n + 12, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "The picture could not be written: is the disk full?");
  PetscFunctionReturn(0);
}

/* rgb: three bytes a pixel, the upper row first */
static PetscErrorCode WritePNG(const char name[], PetscInt width, PetscInt height, const unsigned char rgb[])
{
  const unsigned char signature[8] = {137, 'P', 'N', 'G', 13, 10, 26, 10};
  const size_t        row          = 3 * (size_t)width;
  unsigned char      *chunk;
  unsigned int        a = 1, b = 0;
  FILE               *file;

  PetscFunctionBegin;
  PetscCheck(row + 1 <= 65535, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A picture of %" PetscInt_FMT " nodes in x is too wide: 21844 is the limit", width);
  file = fopen(name, "wb");
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s: does the folder exist?", name);
  PetscCheck(fwrite(signature, 1, 8, file) == 8, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "The picture could not be written: is the disk full?");
  PetscCall(PetscCalloc1(row + 40, &chunk));
  PNGNumber(chunk + 8, width);
  PNGNumber(chunk + 12, height);
  chunk[16] = 8; /* bits a colour; red, green and blue */
  chunk[17] = 2;
  PetscCall(PNGChunk(file, "IHDR", chunk, 13));
  for (PetscInt j = 0; j < height; ++j) { /* each row: one stored block of the zlib stream */
    unsigned char *p = chunk + 8;

    if (!j) {
      *p++ = 0x78;
      *p++ = 0x01;
    }
    *p++ = j == height - 1;
    *p++ = (unsigned char)((row + 1) & 255);
    *p++ = (unsigned char)((row + 1) >> 8);
    *p++ = (unsigned char)(~(row + 1) & 255);
    *p++ = (unsigned char)((~(row + 1) >> 8) & 255);
    *p++ = 0; /* no filter */
    PetscCall(PetscMemcpy(p, rgb + (size_t)j * row, row));
    for (size_t k = 0; k <= row; ++k) {
      a = (a + p[k - 1]) % 65521;
      b = (b + a) % 65521;
    }
    p += row;
    if (j == height - 1) {
      PNGNumber(p, (PetscInt64)b << 16 | a);
      p += 4;
    }
    PetscCall(PNGChunk(file, "IDAT", chunk, (size_t)(p - chunk - 8)));
  }
  PetscCall(PNGChunk(file, "IEND", chunk, 0));
  PetscCall(PetscFree(chunk));
  PetscCheck(!fclose(file), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "The picture could not be written: is the disk full?");
  PetscFunctionReturn(0);
}
