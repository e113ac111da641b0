-- A mod: it runs in a sandbox, and does what it declares.
mica.system("wind", { terms = "write Velocity", after = "move" }, function(view)
    for i = 1, view.count do
        view.Velocity[i].x = view.Velocity[i].x + 0.25 * view.dt
    end
end)
