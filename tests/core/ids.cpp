#include <muster/core/ids.hpp>

#include <concepts>
#include <type_traits>

#include <doctest/doctest.h>

using muster::node_id;
using muster::task_id;

static_assert(!node_id{}, "none by default");
static_assert(node_id{0U} && node_id{7U}.index() == 7);
static_assert(node_id{1U} < node_id{2U} && node_id{1U} == node_id{1U});
static_assert(!std::convertible_to<node_id, task_id> && !std::constructible_from<task_id, node_id>);
static_assert(!std::convertible_to<std::size_t, node_id>, "a number is no id by accident");
static_assert(std::is_trivially_copyable_v<node_id> && sizeof(node_id) == 4);

TEST_CASE("ids: none comes after all others") { CHECK(node_id{1'000'000U} < node_id{}); }
