/* Numbers in bfloat16: the sign, the exponent and the leading 8 bits of a number in single precision, which host and device read and round alike. */
#pragma once

#include "levelrow.h"
#include <string.h>

typedef unsigned short PolderBfloat;

POLDER_BODY float PolderBfloatGet(PolderBfloat a)
{
  const unsigned int bits = (unsigned int)a << 16;
  float              value;

  memcpy(&value, &bits, sizeof(value));
  return value;
}

/* The bits of a number; those of positive numbers are in their order */
POLDER_BODY int PolderBits(float value)
{
  int bits;

  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

POLDER_BODY float PolderFromBits(int bits)
{
  float value;

  memcpy(&value, &bits, sizeof(value));
  return value;
}

/* To nearest, ties to even: a function of the value alone, so that equal entries stay equal. Numbers above 3.39e38 become infinite */
POLDER_BODY PolderBfloat PolderBfloatRound(float value)
{
  unsigned int bits;

  memcpy(&bits, &value, sizeof(bits));
  if (value != value) return 0x7fc0; // rounding the bits could make an infinity of a NaN
  return (PolderBfloat)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
