#!/bin/sh
# What examples may use if it is there, as make variables: NetCDF, whose library is loaded when it is needed and is not linked
netcdf=
if pkg-config --exists netcdf 2>/dev/null; then
  file=$(pkg-config --variable=libdir netcdf)/libnetcdf.so
  netcdf=$(readelf -d "$file" 2>/dev/null | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p')
  cflags="$(pkg-config --cflags netcdf | sed 's/-I */-isystem /g') -DEXAMPLES_NETCDF='\"$netcdf\"'"
fi
echo "NETCDF_CFLAGS := ${netcdf:+$cflags}"
