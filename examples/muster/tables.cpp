#include "tables.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <range/v3/view/transform.hpp>

#include <muster/ext/answer.hpp>
#include <muster/ext/field.hpp>
#include <muster/ext/text.hpp>

namespace muster::tool {

namespace {

using json = nlohmann::json;

/// Rows under headings; columns as wide as their widest cell and three blanks, as kubectl prints them.
class table {
public:
    explicit table(std::vector<std::string> headings) { add(std::move(headings)); }

    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    [[nodiscard]] bool empty() const { return rows_.size() == 1; }

    void print(std::ostream& out) const {
        std::vector<std::size_t> widths(rows_.front().size());
        for (auto const& row : rows_)
            for (std::size_t i = 0; i != row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
        for (auto const& row : rows_) {
            std::string line;
            for (std::size_t i = 0; i != row.size(); ++i)
                line += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}", row[i], widths[i] + 3);
            out << line << '\n';
        }
    }

private:
    std::vector<std::vector<std::string>> rows_;
};

std::string number(json const& n) { return std::to_string(n.get<std::int64_t>()); }
std::string or_none(std::string text) { return text.empty() ? "<none>" : std::move(text); }

/// Splits "namespace/name".
std::pair<std::string, std::string> split(std::string const& key) {
    auto const slash = key.find('/');
    return {key.substr(0, slash), key.substr(slash + 1)};
}

/// Prints the parts of an answer; a NAMESPACE column comes first where there is more than one namespace.
class printer {
public:
    printer(std::ostream& out, ext::simulation const& s, bool wide)
        : out_(&out), simulation_(&s), answer_(ext::answer(s)), wide_(wide) {
        std::set<std::string> namespaces;
        for (auto const* part : {"jobs", "podgroups", "pods"})
            for (auto const& [key, value] : answer_[part].items()) namespaces.insert(split(key).first);
        all_ = namespaces.size() > 1;
    }

    void print() {
        jobs();
        podgroups();
        pods();
        queues();
        if (wide_) {
            nodes();
            environment();
        }
        conditions();
        events();
        reasons();
        if (first_) *out_ << "No resources found\n";
        warnings();
    }

private:
    void title(std::string_view text) {
        if (!first_) *out_ << '\n';
        first_ = false;
        *out_ << "# " << text << '\n';
    }

    void show(std::string_view kind, table const& t) {
        if (t.empty()) return;
        title(fmt::format("kubectl get {}{}{}", kind, all_ ? " -A" : "", wide_ ? " -o wide" : ""));
        t.print(*out_);
    }

    std::vector<std::string> named(std::string const& key, std::vector<std::string> rest) const {
        auto const [ns, name] = split(key);
        rest.insert(rest.begin(), name);
        if (all_) rest.insert(rest.begin(), ns);
        return rest;
    }

    /// The name, with its namespace where there are several.
    [[nodiscard]] std::string short_name(std::string const& key) const { return all_ ? key : split(key).second; }

    std::vector<std::string> headings(std::vector<std::string> rest) const {
        rest.insert(rest.begin(), "NAME");
        if (all_) rest.insert(rest.begin(), "NAMESPACE");
        return rest;
    }

    void jobs() {
        std::vector<std::string> columns{"STATUS", "MINAVAILABLE", "RUNNINGS"};
        if (wide_) columns.emplace_back("QUEUE");
        table t{headings(columns)};
        for (auto const& [key, job] : answer_["jobs"].items()) {
            std::vector<std::string> row{job["phase"], number(job["minAvailable"]), number(job["running"])};
            if (wide_) row.push_back(answer_["podgroups"][job["podgroup"].get<std::string>()].value("queue", ""));
            t.add(named(key, row));
        }
        show("vcjob", t);
    }

    void podgroups() {
        std::vector<std::string> columns{"STATUS", "MINMEMBER", "RUNNINGS"};
        if (wide_) columns.emplace_back("QUEUE");
        table t{headings(columns)};
        for (auto const& [key, group] : answer_["podgroups"].items()) {
            std::vector<std::string> row{group["phase"], number(group["minMember"]), number(group["running"])};
            if (wide_) row.push_back(group["queue"]);
            t.add(named(key, row));
        }
        show("podgroup", t);
    }

    void pods() {
        std::vector<std::string> columns{"STATUS", "NODE"};
        if (wide_) columns.emplace_back("CARDS");
        table t{headings(columns)};
        for (auto const& [key, pod] : answer_["pods"].items()) {
            std::vector<std::string> row{pod["status"], or_none(pod["node"])};
            if (wide_) row.push_back(cards_of(pod));
            t.add(named(key, row));
        }
        show("pod", t);
    }

    static std::string cards_of(json const& pod) {
        return or_none(ext::joined(pod["cards"] | ranges::views::transform([](json const& card) {
                                       return fmt::format("{} {}MiB {}%", card["uuid"].get<std::string>(),
                                                          number(card["memory"]), number(card["cores"]));
                                   }),
                                   ", "));
    }

    static std::string list(json const& amounts) {
        auto const& all = amounts.get_ref<json::object_t const&>();
        return or_none(ext::joined(all | ranges::views::transform([](auto const& one) {
                                       return one.first + '=' + one.second.template get<std::string>();
                                   }),
                                   ","));
    }

    void queues() {
        std::set<std::string> used;
        for (auto const& [key, group] : answer_["podgroups"].items()) used.insert(group["queue"].get<std::string>());
        std::vector<std::string> columns{"NAME", "STATE", "SHARE", "ALLOCATED"};
        if (wide_) columns.insert(columns.end(), {"DESERVED", "CAPABILITY"});
        table t{columns};
        for (auto const& [name, queue] : answer_["queues"].items()) {
            if (!wide_ && !used.contains(name)) continue;
            std::vector<std::string> row{name, queue["state"], fmt::format("{:.2f}", queue["share"].get<double>()),
                                         list(queue["allocated"])};
            if (wide_) row.insert(row.end(), {list(queue["deserved"]), list(queue["capability"])});
            t.add(row);
        }
        if (t.empty()) return;
        title(fmt::format("kubectl get queue{}", wide_ ? " -o wide" : ""));
        t.print(*out_);
    }

    void nodes() {
        table t{{"NODE", "CARD", "SHARES", "MEMORY", "CORES"}};
        for (auto const& [name, node] : answer_["nodes"].items())
            for (auto const& card : node["cards"]) {
                auto const& used = card["used"];
                t.add({name, card["uuid"], fmt::format("{}/{}", number(used["slots"]), number(card["slots"])),
                       fmt::format("{}/{}MiB", number(used["memory"]), number(card["memory"])),
                       fmt::format("{}/{}%", number(used["cores"]), number(card["cores"]))});
            }
        if (t.empty()) return;
        title("cards");
        t.print(*out_);
    }

    void environment() {
        for (auto const& [key, pod] : answer_["pods"].items())
            for (auto const& [container, env] : pod["env"].items()) {
                auto const [ns, name] = split(key);
                title(fmt::format("kubectl exec {}{} -c {} -- env", all_ ? "-n " + ns + " " : "", name, container));
                for (auto const& [variable, value] : env.items())
                    *out_ << variable << '=' << value.get<std::string>() << '\n';
            }
    }

    void conditions() {
        table t{{"PODGROUP", "TYPE", "STATUS", "REASON", "MESSAGE"}};
        for (auto const& [key, group] : answer_["podgroups"].items())
            for (auto const& c : group["conditions"])
                if (c["type"] == "Unschedulable" && group["phase"] != "Running" && group["phase"] != "Completed")
                    t.add({short_name(key), c["type"], c["status"], c["reason"], c["message"]});
        if (t.empty()) return;
        title("conditions of podgroups that wait");
        t.print(*out_);
    }

    /// Equal events are told once, at their first cycle, with how often they came.
    void events() {
        table t{{"CYCLE", "TYPE", "REASON", "PODGROUP", "MESSAGE"}};
        std::map<std::vector<std::string>, std::size_t> times;
        auto const what = [&](json const& e) {
            return std::vector<std::string>{e["type"], e["reason"], short_name(e["podgroup"]), e["message"]};
        };
        for (auto const& e : answer_["events"]) ++times[what(e)];
        for (auto const& e : answer_["events"]) {
            auto row = what(e);
            auto const seen = times.find(row);
            if (seen == times.end()) continue;
            auto cycle = number(e["cycle"]);
            if (seen->second > 1) cycle += fmt::format(" (x{})", seen->second);
            times.erase(seen);
            row.insert(row.begin(), cycle);
            t.add(std::move(row));
        }
        if (t.empty()) return;
        title("events");
        t.print(*out_);
    }

    void reasons() {
        for (auto const& [key, group] : answer_["podgroups"].items()) {
            if (group["why"].empty()) continue;
            bool const runs = group["phase"] == "Running" || group["phase"] == "Completed";
            title(runs ? "why pods of " + short_name(key) + " wait" : "why " + short_name(key) + " waits");
            for (auto const& line : group["why"]) *out_ << line.get<std::string>() << '\n';
        }
    }

    void warnings() {
        if (simulation_->warnings().empty()) return;
        title("warnings");
        for (auto const& w : simulation_->warnings()) *out_ << ext::to_string(w) << '\n';
    }

    std::ostream* out_;
    ext::simulation const* simulation_;
    json answer_;
    bool wide_;
    bool all_ = false;
    bool first_ = true;
};

} // namespace

void print_tables(std::ostream& out, ext::simulation const& s, bool wide) { printer{out, s, wide}.print(); }

} // namespace muster::tool
