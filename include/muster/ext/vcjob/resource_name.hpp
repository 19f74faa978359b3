#pragma once

/// \file
/// Kubernetes' classes of resource names, and amounts as JSON writes them.

#include <string>
#include <string_view>

#include <muster/core/result.hpp>
#include <muster/ext/vcjob/access.hpp>
#include <muster/ext/vcjob/kube_names.hpp>
#include <muster/resource/quantity.hpp>

namespace muster::ext::vcjob {

/// Whether Kubernetes itself defines the resource.
///
/// Source: kubernetes, pkg/apis/core/helper/helpers.go, IsNativeResource, at v1.36, as the following.
[[nodiscard]] constexpr bool is_native_resource(std::string_view name) noexcept {
    return name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos;
}

[[nodiscard]] constexpr bool is_huge_page(std::string_view name) noexcept { return name.starts_with("hugepages-"); }

/// What a container may ask for without a domain in the name.
[[nodiscard]] constexpr bool is_container_resource(std::string_view name) noexcept {
    return name == "cpu" || name == "memory" || name == "ephemeral-storage" || is_huge_page(name);
}

/// Resources that device plugins and operators add, such as `volcano.sh/vgpu-number`.
[[nodiscard]] inline bool is_extended_resource(std::string_view name) {
    if (is_native_resource(name) || name.starts_with("requests.")) return false;
    return qualified_name_faults("requests." + std::string{name}).empty();
}

/// A quantity from JSON, where it may stand as a number.
///
/// Errors: those of `parse_quantity`; `bad_field` for what is neither text nor number.
[[nodiscard]] inline result<quantity> read_quantity(json const& value) {
    if (value.is_string()) return parse_quantity(value.get_ref<std::string const&>());
    if (value.is_number()) return parse_quantity(value.dump());
    return fail(errc::bad_field);
}

} // namespace muster::ext::vcjob
