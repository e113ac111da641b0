// The core for projects that use Zig's build system:
//
//     const mica = b.dependency("mica", .{ .target = target, .optimize = optimize });
//     exe.linkLibrary(mica.artifact("mica"));
//
// The language of these files changes with every version of Zig: see docs/guide/embedding.md for those that were tested.
const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const checked = b.option(bool, "checked", "Check every access at run time and stop with a report") orelse false;

    var flags = std.ArrayList([]const u8).init(b.allocator);
    flags.appendSlice(&.{ "-std=c17", "-ffp-contract=off", "-DMICA_BUILD" }) catch @panic("out of memory");
    if (checked) flags.append("-DMICA_CHECKED=1") catch @panic("out of memory");

    const library = b.addStaticLibrary(.{ .name = "mica", .target = target, .optimize = optimize });
    library.addCSourceFiles(.{ .files = listSources(b), .flags = flags.items });
    library.addIncludePath(local(b, "include"));
    library.addIncludePath(local(b, "src"));
    library.linkLibC();
    installHeaders(b, library);
    b.installArtifact(library);

    // zig build run: the smallest program.
    const consumer = b.addExecutable(.{ .name = "consumer", .target = target, .optimize = optimize });
    consumer.addCSourceFiles(.{
        .files = &.{"tests/package/consumer.c"},
        .flags = if (checked) &.{ "-std=c17", "-DMICA_CHECKED=1" } else &.{"-std=c17"},
    });
    consumer.addIncludePath(local(b, "include"));
    consumer.linkLibrary(library);
    b.step("run", "Run a small program").dependOn(&b.addRunArtifact(consumer).step);
}

// The names of several things changed in Zig 0.12 and 0.13.
const has_paths = @hasDecl(std.Build, "path");
const LazyPath = if (@hasDecl(std.Build, "LazyPath")) std.Build.LazyPath else std.build.LazyPath;

fn local(b: *std.Build, path: []const u8) LazyPath {
    return if (has_paths) b.path(path) else .{ .path = path };
}

fn installHeaders(b: *std.Build, library: *std.Build.Step.Compile) void {
    if (has_paths) {
        library.installHeadersDirectory(b.path("include"), "", .{ .include_extensions = &.{ ".h", ".hpp" } });
    } else {
        library.installHeadersDirectory("include", "");
    }
}

const IterableDir = if (@hasDecl(std.fs, "IterableDir")) std.fs.IterableDir else std.fs.Dir;

fn openFolder(b: *std.Build, path: []const u8) IterableDir {
    if (@hasDecl(std.fs, "IterableDir"))
        return b.build_root.handle.openIterableDir(path, .{}) catch @panic("a layer has no folder");
    return b.build_root.handle.openDir(path, .{ .iterate = true }) catch @panic("a layer has no folder");
}

// The files of the layers that CMakeLists.txt lists.
fn listSources(b: *std.Build) []const []const u8 {
    const start = "foreach(layer ";
    const text = b.build_root.handle.readFileAlloc(b.allocator, "CMakeLists.txt", 1 << 20) catch @panic("no CMakeLists.txt");
    const first = (std.mem.indexOf(u8, text, start) orelse @panic("CMakeLists.txt lists no layers")) + start.len;
    const last = std.mem.indexOfScalarPos(u8, text, first, ')') orelse @panic("CMakeLists.txt lists no layers");

    var found = std.ArrayList([]const u8).init(b.allocator);
    var layers = std.mem.tokenizeScalar(u8, text[first..last], ' ');
    while (layers.next()) |layer| {
        var folder = openFolder(b, b.pathJoin(&.{ "src", layer }));
        defer folder.close();
        var walker = folder.walk(b.allocator) catch @panic("out of memory");
        defer walker.deinit();
        while (walker.next() catch @panic("a folder can't be read")) |entry| {
            if (entry.kind == .file and std.mem.endsWith(u8, entry.path, ".c"))
                found.append(b.pathJoin(&.{ "src", layer, entry.path })) catch @panic("out of memory");
        }
    }
    return found.items;
}
