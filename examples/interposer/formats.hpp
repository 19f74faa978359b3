#pragma once

// How many bits an element of an array has, by cuda.h's names of formats.

#include "driver.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace muster::interposer {

/// Formats that come one after the other, with their bits: of a channel, or of an element whatever its channels.
struct format_row {
    unsigned first, last;
    unsigned bits;
    bool each_channel = false;
};

inline constexpr std::array formats{
    format_row{CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT8, 8, true},
    format_row{CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT16, 16, true},
    format_row{CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_UNSIGNED_INT32, 32, true},
    format_row{CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT8, 8, true},
    format_row{CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16, 16, true},
    format_row{CU_AD_FORMAT_SIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32, 32, true},
    format_row{CU_AD_FORMAT_HALF, CU_AD_FORMAT_HALF, 16, true},
    format_row{CU_AD_FORMAT_FLOAT, CU_AD_FORMAT_FLOAT, 32, true},
    format_row{CU_AD_FORMAT_UNORM_INT_101010_2, CU_AD_FORMAT_UNORM_INT_101010_2, 32},
    format_row{CU_AD_FORMAT_BC1_UNORM, CU_AD_FORMAT_BC1_UNORM_SRGB, 4},
    format_row{CU_AD_FORMAT_BC2_UNORM, CU_AD_FORMAT_BC3_UNORM_SRGB, 8},
    format_row{CU_AD_FORMAT_BC4_UNORM, CU_AD_FORMAT_BC4_SNORM, 4},
    format_row{CU_AD_FORMAT_BC5_UNORM, CU_AD_FORMAT_BC7_UNORM_SRGB, 8},
    format_row{CU_AD_FORMAT_P010, CU_AD_FORMAT_P016, 24},
    format_row{CU_AD_FORMAT_NV16, CU_AD_FORMAT_NV16, 16},
    format_row{CU_AD_FORMAT_P210, CU_AD_FORMAT_P216, 32},
    format_row{CU_AD_FORMAT_YUY2, CU_AD_FORMAT_YUY2, 16},
    format_row{CU_AD_FORMAT_Y210, CU_AD_FORMAT_Y410, 32},
    format_row{CU_AD_FORMAT_NV12, CU_AD_FORMAT_NV12, 12},
    format_row{CU_AD_FORMAT_Y416, CU_AD_FORMAT_Y416, 64},
    format_row{CU_AD_FORMAT_Y444_PLANAR8, CU_AD_FORMAT_Y444_PLANAR8, 24},
    format_row{CU_AD_FORMAT_Y444_PLANAR10, CU_AD_FORMAT_Y444_PLANAR10, 48},
    format_row{CU_AD_FORMAT_YUV444_8bit_SemiPlanar, CU_AD_FORMAT_YUV444_8bit_SemiPlanar, 24},
    format_row{CU_AD_FORMAT_YUV444_16bit_SemiPlanar, CU_AD_FORMAT_YUV444_16bit_SemiPlanar, 48},
    format_row{CU_AD_FORMAT_UNORM_INT8X1, CU_AD_FORMAT_UNORM_INT8X1, 8},
    format_row{CU_AD_FORMAT_UNORM_INT8X2, CU_AD_FORMAT_UNORM_INT8X2, 16},
    format_row{CU_AD_FORMAT_UNORM_INT8X4, CU_AD_FORMAT_UNORM_INT8X4, 32},
    format_row{CU_AD_FORMAT_UNORM_INT16X1, CU_AD_FORMAT_UNORM_INT16X1, 16},
    format_row{CU_AD_FORMAT_UNORM_INT16X2, CU_AD_FORMAT_UNORM_INT16X2, 32},
    format_row{CU_AD_FORMAT_UNORM_INT16X4, CU_AD_FORMAT_UNORM_INT16X4, 64},
    format_row{CU_AD_FORMAT_SNORM_INT8X1, CU_AD_FORMAT_SNORM_INT8X1, 8},
    format_row{CU_AD_FORMAT_SNORM_INT8X2, CU_AD_FORMAT_SNORM_INT8X2, 16},
    format_row{CU_AD_FORMAT_SNORM_INT8X4, CU_AD_FORMAT_SNORM_INT8X4, 32},
    format_row{CU_AD_FORMAT_SNORM_INT16X1, CU_AD_FORMAT_SNORM_INT16X1, 16},
    format_row{CU_AD_FORMAT_SNORM_INT16X2, CU_AD_FORMAT_SNORM_INT16X2, 32},
    format_row{CU_AD_FORMAT_SNORM_INT16X4, CU_AD_FORMAT_SNORM_INT16X4, 64},
};

/// Bits of an element; of a format that isn't known, as many as there can be.
[[nodiscard]] constexpr std::uint64_t element_bits(unsigned format, unsigned channels) noexcept {
    constexpr unsigned most = 64; // a channel
    auto const found = std::find_if(formats.begin(), formats.end(),
                                    [&](auto const& f) { return f.first <= format && format <= f.last; });
    if (found == formats.end()) return std::uint64_t{most} * std::max(channels, 1U);
    return found->each_channel ? std::uint64_t{found->bits} * channels : found->bits;
}

} // namespace muster::interposer
