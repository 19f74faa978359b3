#include <muster/ext/vcjob/admission.hpp>
#include <muster/ext/vcjob/controller.hpp>
#include <muster/ext/vcjob/plain_pod.hpp>

#include <array>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

namespace vcjob = muster::ext::vcjob;
using vcjob::json;

/// A cluster with the queues that a Volcano cluster has, and one that is closed.
vcjob::context cluster() {
    vcjob::context around;
    around.queues = {{"default", {"Open", "root"}}, {"root", {"Open"}}, {"shut", {"Closed"}}};
    return around;
}

json container(json resources) { return {{"name", "main"}, {"image", "busybox"}, {"resources", std::move(resources)}}; }

json task(char const* name, int replicas, json resources) {
    json pod{{"restartPolicy", "Never"}, {"containers", json::array({container(std::move(resources))})}};
    return {{"name", name}, {"replicas", replicas}, {"template", {{"spec", std::move(pod)}}}};
}

json job(std::vector<json> tasks) {
    return {{"apiVersion", "batch.volcano.sh/v1alpha1"},
            {"kind", "Job"},
            {"metadata", {{"name", "train"}, {"namespace", "ml"}, {"uid", "u1"}}},
            {"spec", {{"tasks", std::move(tasks)}}}};
}

/// The article's worker: limits alone.
json vgpu_worker() {
    return task("worker", 2,
                {{"limits", {{"volcano.sh/vgpu-number", 1}, {"volcano.sh/vgpu-memory", 6000}, {"cpu", "1"}}}});
}

json admitted(json written, vcjob::context const& around) {
    auto const result = vcjob::admit(std::move(written), around);
    REQUIRE(result.allowed());
    return result.job;
}

json resources_of(std::vector<json> tasks, int min_available, vcjob::context const& around = cluster()) {
    auto written = job(std::move(tasks));
    written["spec"]["minAvailable"] = min_available;
    return vcjob::make_podgroup(admitted(written, around), around).value().at("spec").at("minResources");
}

} // namespace

TEST_CASE("admission: a job that says little gets its queue, its gang and its task names") {
    auto written = job({task("worker", 2, {}), task("", 1, {})});
    auto const members = vcjob::defaulted_members(admitted(written, cluster()));
    CHECK(members.at("queue") == "default");
    CHECK(members.at("schedulerName") == "volcano");
    CHECK(members.at("minAvailable") == 3);
    CHECK(members.at("maxRetry") == 3);
    CHECK(members.at("tasks")[1] == json{{"name", "default1"}, {"replicas", 1}, {"minAvailable", 1}, {"maxRetry", 3}});
}

TEST_CASE("admission: a refusal carries the text of the one who refuses") {
    struct row {
        char const* pointer;
        json value;
        vcjob::refusal by;
        char const* text;
    };
    static std::string const events = "\n valid events are [* JobUpdated PodEvicted PodFailed PodPending TaskCompleted "
                                      "TaskFailed Unknown], valid actions are [AbortJob CompleteJob RestartJob "
                                      "RestartPartition RestartPod RestartTask ResumeJob TerminateJob];";
    static std::string const action =
        "1 error occurred:\n\t* spec.policies: Invalid value: \"SyncJob\": invalid policy "
        "action\n" +
        events;
    for (row const& c : {
             row{"/spec/queue", "shut", vcjob::refusal::webhook,
                 "can only submit job to queue with state `Open`, queue `shut` status is `Closed`;"},
             row{"/spec/queue", "nowhere", vcjob::refusal::webhook,
                 "unable to find job queue: queue.scheduling.volcano.sh \"nowhere\" not found;"},
             row{"/spec/queue", "root", vcjob::refusal::webhook, "can not submit job to root queue;"},
             row{"/spec/minAvailable", 3, vcjob::refusal::webhook,
                 "job 'minAvailable' should not be greater than total replicas in tasks;"},
             row{"/spec/tasks/0/minAvailable", 4, vcjob::refusal::webhook,
                 "'minAvailable' is greater than 'replicas' in task: worker, job: train; job 'minAvailable' should not "
                 "be greater than total replicas in tasks;"},
             row{"/spec/tasks/0/dependsOn",
                 {{"name", {"worker"}}},
                 vcjob::refusal::webhook,
                 "job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG);"},
             row{"/spec/policies", json::array({{{"event", "PodFailed"}, {"action", "SyncJob"}}}),
                 vcjob::refusal::webhook, action.c_str()},
             row{"/spec/tasks/0/replicas", "two", vcjob::refusal::schema,
                 "spec.tasks[0].replicas: Invalid value: \"string\": spec.tasks[0].replicas in body must be of type "
                 "integer: \"string\""},
             row{"/spec/maxRetry", -1, vcjob::refusal::schema,
                 "spec.maxRetry: Invalid value: -1: spec.maxRetry in body should be greater than or equal to 0"},
             row{"/spec/tasks", json::array(), vcjob::refusal::schema,
                 "spec.tasks: Invalid value: 0: spec.tasks in body should have at least 1 items"},
             row{"/spec/networkTopology",
                 {{"mode", "firm"}},
                 vcjob::refusal::schema,
                 "spec.networkTopology.mode: Unsupported value: \"firm\": supported values: \"hard\", \"soft\""},
         }) {
        CAPTURE(c.pointer);
        CAPTURE(c.value.dump());
        auto written = job({task("worker", 2, {})});
        written[json::json_pointer{c.pointer}] = c.value;
        auto const result = vcjob::admit(written, cluster());
        CHECK(result.refused_by == c.by);
        CHECK((c.by == vcjob::refusal::schema ? result.schema.at(0) : result.webhook) == c.text);
    }
}

TEST_CASE("admission: any JSON in any place is an answer, not an exception") {
    std::array<json, 7> const odd{nullptr, true, -3'000'000'000, 0.5, "text", json::array({1}), {{"a", json::array()}}};
    auto const whole = job({vgpu_worker()});
    auto const flat = whole.flatten();
    for (auto const& [place, leaf] : flat.items()) {
        for (json::json_pointer at{place}; !at.empty(); at = at.parent_pointer()) {
            for (auto const& value : odd) {
                auto written = whole;
                written[at] = value;
                CAPTURE(written.dump());
                auto const result = vcjob::admit(written, cluster());
                if (result.allowed()) CHECK_NOTHROW(static_cast<void>(vcjob::make_podgroup(result.job, cluster())));
            }
        }
    }
}

TEST_CASE("podgroup: limits of extended resources do not count for a gang's resources") {
    CHECK(resources_of({vgpu_worker()}, 2) == json{{"count/pods", "2"}, {"pods", "2"}, {"limits.cpu", "2"}});
    auto asking = vgpu_worker();
    asking["template"]["spec"]["containers"][0]["resources"]["requests"]["volcano.sh/vgpu-number"] = 1;
    CHECK(resources_of({asking}, 2) == json{{"count/pods", "2"},
                                            {"pods", "2"},
                                            {"limits.cpu", "2"},
                                            {"volcano.sh/vgpu-number", "2"},
                                            {"requests.volcano.sh/vgpu-number", "2"}});
}

TEST_CASE("podgroup: a gang smaller than its tasks' gangs counts the most important pods") {
    auto around = cluster();
    around.priorities = {{"high", 1000}};
    auto const small = task("small", 2, {{"requests", {{"cpu", "1"}}}});
    auto large = task("large", 3, {{"requests", {{"cpu", "2"}}}});
    large["template"]["spec"]["priorityClassName"] = "high";
    CHECK(resources_of({small, large}, 1, around).at("cpu") == "2");
    CHECK(resources_of({small, large}, 4, around).at("cpu") == "7");
    CHECK(resources_of({small, large}, 5, around).at("cpu") == "8");
}

TEST_CASE("podgroup: a sum that leaves 64 bits is an error") {
    auto const around = cluster();
    auto const huge = admitted(job({task("a", 2, {{"requests", {{"memory", "5E"}}}})}), around);
    CHECK(vcjob::make_podgroup(huge, around).error().code == muster::errc::overflow);
}

TEST_CASE("podgroup: a namespace may send its default queue's groups elsewhere, not its pods' labels") {
    auto around = cluster();
    around.queues["team"] = {"Open", "root"};
    around.namespace_queues["ml"] = "team";
    auto const stored = admitted(job({task("a", 1, {})}), around);
    CHECK(vcjob::make_podgroup(stored, around).value().at("spec").at("queue") == "team");
    auto const pod = vcjob::make_pod(stored, stored.at("spec").at("tasks")[0], 0);
    CHECK(pod.at("metadata").at("labels").at("volcano.sh/queue-name") == "default");
}

TEST_CASE("pods: a pod is named after job, task and index, and its requests are its limits") {
    auto const stored = admitted(job({vgpu_worker()}), cluster());
    auto const pod = vcjob::make_pod(stored, stored.at("spec").at("tasks")[0], 1);
    CHECK(vcjob::key_of(pod) == "ml/train-worker-1");
    CHECK(pod.at("metadata").at("annotations").at("scheduling.k8s.io/group-name") == "train-u1");
    CHECK(pod.at("spec").at("schedulerName") == "volcano");
    auto const& resources = pod.at("spec").at("containers")[0].at("resources");
    CHECK(resources.at("requests") ==
          json{{"cpu", "1"}, {"volcano.sh/vgpu-memory", "6k"}, {"volcano.sh/vgpu-number", "1"}});
}

TEST_CASE("pods: partitions are runs of indices") {
    auto parted = task("a", 4, {});
    parted["partitionPolicy"] = {{"totalPartitions", 2}, {"partitionSize", 2}, {"minPartitions", 1}};
    auto const stored = admitted(job({parted}), cluster());
    auto const& first = stored.at("spec").at("tasks")[0];
    CHECK(first.at("minAvailable") == 2);
    std::vector<std::string> ids;
    for (int i = 0; i != 4; ++i)
        ids.push_back(vcjob::make_pod(stored, first, i).at("metadata").at("labels").at("volcano.sh/partition-id"));
    CHECK(ids == std::vector<std::string>{"0", "0", "1", "1"});
}

TEST_CASE("pods: the svc plugin gives hosts a name, and variables that hold them") {
    auto written = job({task("my-role", 2, {})});
    written["spec"]["plugins"] = {{"svc", json::array()}};
    auto const stored = admitted(written, cluster());
    auto const pod = vcjob::make_pod(stored, stored.at("spec").at("tasks")[0], 0);
    CHECK(pod.at("spec").at("subdomain") == "train");
    CHECK(pod.at("spec").at("containers")[0].at("env")[0].at("name") == "VC_MY_ROLE_HOSTS");
    auto const objects = vcjob::plugin_objects(stored);
    REQUIRE(objects.size() == 3);
    CHECK(objects[0].at("data").at("VC_MY_ROLE_HOSTS") == "train-my-role-0.train,train-my-role-1.train");
}

TEST_CASE("controller: pods come once the PodGroup is enqueued, and the job follows its pods") {
    auto const around = cluster();
    vcjob::job_controller train{admitted(job({vgpu_worker()}), around), around};
    REQUIRE(train.sync());
    CHECK(train.record().status.phase == vcjob::job_phase::pending);
    CHECK(train.record().pods.empty());
    CHECK(vcjob::name_of(train.record().podgroup) == "train-u1");

    train.set_podgroup_phase("Inqueue");
    REQUIRE(train.sync());
    CHECK(train.record().pods.size() == 2);
    CHECK(train.record().status.counts.pending == 2);

    struct row {
        char const* first;
        char const* second;
        vcjob::job_phase phase;
    };
    for (row const& c :
         {row{"Running", "Pending", vcjob::job_phase::pending}, row{"Running", "Running", vcjob::job_phase::running},
          row{"Succeeded", "Running", vcjob::job_phase::running},
          row{"Succeeded", "Succeeded", vcjob::job_phase::completed}}) {
        CAPTURE(c.first);
        CAPTURE(c.second);
        train.set_pod_status("train-worker-0", {{"phase", c.first}});
        train.set_pod_status("train-worker-1", {{"phase", c.second}});
        REQUIRE(train.sync());
        CHECK(train.record().status.phase == c.phase);
    }
}

TEST_CASE("controller: a task waits for the tasks that it depends on") {
    auto const around = cluster();
    auto late = task("late", 1, {});
    late["dependsOn"] = {{"name", {"early"}}};
    vcjob::job_controller train{admitted(job({late, task("early", 1, {})}), around), around};
    REQUIRE(train.sync());
    train.set_podgroup_phase("Inqueue");
    REQUIRE(train.sync());
    CHECK(train.record().pods.size() == 1);
    train.set_pod_status("train-early-0", {{"phase", "Running"}});
    REQUIRE(train.sync());
    CHECK(train.record().pods.contains("train-late-0"));
}

TEST_CASE("status: a finished job failed if it has too few successes") {
    auto stored = admitted(job({task("a", 3, {})}), cluster());
    vcjob::pod_counts counts;
    for (auto const* phase : {"Succeeded", "Succeeded", "Failed"}) counts.add("a", phase);
    CHECK(vcjob::next_phase(stored, vcjob::job_phase::running, counts) == vcjob::job_phase::failed);
    stored["spec"]["minAvailable"] = 2;
    CHECK(vcjob::next_phase(stored, vcjob::job_phase::running, counts) == vcjob::job_phase::completed);
    stored["spec"]["minSuccess"] = 3;
    CHECK(vcjob::next_phase(stored, vcjob::job_phase::running, counts) == vcjob::job_phase::failed);
}

TEST_CASE("plain_pod: pods of one controller share a PodGroup, of the size that their owner wishes") {
    auto const pod = [](char const* name, json owners) {
        json spec{{"schedulerName", "volcano"}, {"containers", json::array({container({{"limits", {{"cpu", "1"}}}})})}};
        return json{{"apiVersion", "v1"},
                    {"kind", "Pod"},
                    {"metadata", {{"name", name}, {"uid", name}, {"ownerReferences", std::move(owners)}}},
                    {"spec", std::move(spec)}};
    };
    json const owner{
        {"apiVersion", "apps/v1"}, {"kind", "ReplicaSet"}, {"name", "r"}, {"uid", "ur"}, {"controller", true}};
    std::vector<json> objects{
        pod("a", json::array({owner})), pod("b", json::array({owner})), pod("c", json::array()),
        json{{"apiVersion", "apps/v1"},
             {"kind", "ReplicaSet"},
             {"metadata", {{"name", "r"}, {"annotations", {{"scheduling.volcano.sh/group-min-member", "2"}}}}}}};
    auto const made = vcjob::group_plain_pods(objects, cluster()).value();
    REQUIRE(made.groups.size() == 2);
    auto const& shared = made.groups.at("default/podgroup-ur");
    CHECK(shared.at("spec").at("minMember") == 2);
    CHECK(shared.at("spec").at("minResources").at("requests.cpu") == "2");
    CHECK(objects[1]["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == "podgroup-ur");
    CHECK(objects[2]["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == "podgroup-c");
}

TEST_CASE("go_duration: durations are read and printed as Go does") {
    struct row {
        char const* text;
        char const* printed;
    };
    for (row const& c : {row{"30s", "30s"}, row{"90s", "1m30s"}, row{"1h", "1h0m0s"}, row{"1.5s", "1.5s"},
                         row{"1500ms", "1.5s"}, row{"-2m", "-2m0s"}, row{"0", "0s"}}) {
        CAPTURE(c.text);
        auto const value = vcjob::parse_go_duration(c.text);
        REQUIRE(value);
        CHECK(vcjob::print_go_duration(*value) == c.printed);
    }
    for (auto const* bad : {"", "3", "s", "1.2.3s", "1y", "9999999999h"}) CHECK_FALSE(vcjob::parse_go_duration(bad));
}
