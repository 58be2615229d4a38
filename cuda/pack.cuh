/* N consecutive numbers that a thread loads and stores at once, and arithmetic with them number by number. */
#pragma once

#include "kernels/bfloat.h"
#include "kernels/launcher.h"

template <class V, int N>
struct PolderPack {
  V v[N];
};

/* f of the numbers of one or two packs */
template <class V, int N, class F>
static __device__ __forceinline__ auto PolderPackMap(const PolderPack<V, N> &a, F f)
{
  PolderPack<decltype(f(a.v[0])), N> c;

#pragma unroll
  for (int k = 0; k < N; ++k) c.v[k] = f(a.v[k]);
  return c;
}

template <class V, int N, class F>
static __device__ __forceinline__ PolderPack<V, N> PolderPackMap(const PolderPack<V, N> &a, const PolderPack<V, N> &b, F f)
{
  PolderPack<V, N> c;

#pragma unroll
  for (int k = 0; k < N; ++k) c.v[k] = f(a.v[k], b.v[k]);
  return c;
}

template <class V, int N>
static __device__ __forceinline__ PolderPack<V, N> operator+(const PolderPack<V, N> &a, const PolderPack<V, N> &b)
{
  return PolderPackMap(a, b, [](V x, V y) { return x + y; });
}

template <class V, int N>
static __device__ __forceinline__ PolderPack<V, N> operator-(const PolderPack<V, N> &a, const PolderPack<V, N> &b)
{
  return PolderPackMap(a, b, [](V x, V y) { return x - y; });
}

template <class V, int N>
static __device__ __forceinline__ PolderPack<V, N> operator*(const PolderPack<V, N> &a, const PolderPack<V, N> &b)
{
  return PolderPackMap(a, b, [](V x, V y) { return x * y; });
}

template <class V, int N>
static __device__ __forceinline__ PolderPack<V, N> operator*(V a, const PolderPack<V, N> &b)
{
  return PolderPackMap(b, [=](V x) { return a * x; });
}

template <class V, int N>
static __device__ __forceinline__ auto PolderPackDouble(const PolderPack<V, N> &a)
{
  return PolderPackMap(a, [](V x) { return (double)x; });
}

/* bfloat16 to float; other numbers stay what they are */
template <class E, int N>
static __device__ __forceinline__ auto PolderPackGet(const PolderPack<E, N> &a)
{
  if constexpr (std::is_same_v<E, PolderBfloat>) return PolderPackMap(a, [](E x) { return PolderBfloatGet(x); });
  else return a;
}

/* What is as long as a pack and is loaded at once */
template <size_t BYTES>
struct PolderPackWord;
template <>
struct PolderPackWord<1> {
  typedef unsigned char type;
};
template <>
struct PolderPackWord<2> {
  typedef unsigned short type;
};
template <>
struct PolderPackWord<4> {
  typedef unsigned int type;
};
template <>
struct PolderPackWord<8> {
  typedef uint2 type;
};
template <>
struct PolderPackWord<16> {
  typedef uint4 type;
};

/* The same for longer packs: so many words */
template <size_t BYTES>
struct PolderPackWords {
  static constexpr int                                             N = BYTES > 16 ? (int)(BYTES / 16) : 1;
  typedef typename PolderPackWord<(BYTES > 16 ? 16 : BYTES)>::type type;
};

/* The N numbers from *v on, which is aligned for that, by load(address) */
template <int N, class V, class Load>
static __device__ __forceinline__ PolderPack<V, N> PolderPackLoad(const V *v, Load load)
{
  typedef PolderPackWords<sizeof(V) * N> Words;
  typename Words::type                   word[Words::N];
  PolderPack<V, N>                       pack;

#pragma unroll
  for (int k = 0; k < Words::N; ++k) word[k] = load((const typename Words::type *)v + k);
  memcpy(&pack, word, sizeof(pack));
  return pack;
}

/* Memory that no kernel writes at the time; memory that is read once; memory that this thread may have written */
template <int N, class V>
static __device__ __forceinline__ PolderPack<V, N> PolderPackLdg(const V *v)
{
  return PolderPackLoad<N>(v, [](auto *p) { return __ldg(p); });
}

template <int N, class V>
static __device__ __forceinline__ PolderPack<V, N> PolderPackStream(const V *v)
{
  return PolderPackLoad<N>(v, [](auto *p) { return __ldcs(p); });
}

template <int N, class V>
static __device__ __forceinline__ PolderPack<V, N> PolderPackRead(const V *v)
{
  return PolderPackLoad<N>(v, [](auto *p) { return *p; });
}

template <class V, int N>
static __device__ __forceinline__ void PolderPackWrite(V *v, const PolderPack<V, N> &pack)
{
  typedef PolderPackWords<sizeof(V) * N> Words;
  typename Words::type                   word[Words::N];

  memcpy(word, &pack, sizeof(pack));
#pragma unroll
  for (int k = 0; k < Words::N; ++k) ((typename Words::type *)v)[k] = word[k];
}

/* Memory that is not read again soon */
template <class V, int N>
static __device__ __forceinline__ void PolderPackStreamWrite(V *v, const PolderPack<V, N> &pack)
{
  typedef PolderPackWords<sizeof(V) * N> Words;
  typename Words::type                   word[Words::N];

  memcpy(word, &pack, sizeof(pack));
#pragma unroll
  for (int k = 0; k < Words::N; ++k) __stcs((typename Words::type *)v + k, word[k]);
}

/* May packs of N be loaded from these addresses? */
template <int N, class... V>
static inline bool PolderAligned(const V *...v)
{
  return (((size_t)v % (N * sizeof(V)) == 0) && ...);
}
