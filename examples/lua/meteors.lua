-- Meteors fall on towns. Everything here is declared once; the world keeps the state, so the file can be changed while the game runs.
mica.component("Position", "f32 x, f32 y")
mica.component("Velocity", "f32 x, f32 y")
mica.component("Town", "text name, i32 people")
mica.singleton("Sky", "i32 meteors, i32 hits")
mica.message("Impact", "f32 energy")

mica.start(function()
    for i, name in ipairs { "Alma", "Bree", "Cork" } do
        mica.create { Position = { x = i * 10 }, Town = { name = name, people = 100 * i } }
    end
end)

mica.system("spawn_meteors", { writes = { "Sky" }, every = 2 }, function(frame)
    local sky = mica.singleton_write("Sky")
    sky.meteors = sky.meteors + 1
    mica.create { Position = { x = sky.meteors * 10, y = 4 }, Velocity = { y = -2 } }
end)

mica.system("move", "write Position, Velocity", function(view)
    local position, velocity = view.Position, view.Velocity
    for i = 1, view.count do
        position[i].x = position[i].x + velocity[i].x * view.dt
        position[i].y = position[i].y + velocity[i].y * view.dt
    end
end)

local towns = mica.query("Position, has Town")

mica.system("hit", { terms = "Position, has Velocity", reads = { "Town" }, writes = { "Sky" } }, function(view)
    for i = 1, view.count do
        if view.Position[i].y <= 0 then
            for town in towns:views() do
                for j = 1, town.count do
                    if town.Position[j].x == view.Position[i].x then
                        mica.send(town.entities[j], "Impact", { energy = 5 })
                    end
                end
            end
            local sky = mica.singleton_write("Sky")
            sky.hits = sky.hits + 1
            mica.destroy(view.entities[i])
        end
    end
end)

mica.handler("Town", "Impact", function(message)
    for i = 1, message.count do
        local town = message.values[i]
        town.people = town.people - message.data.energy
        print(town.name .. " is hit, " .. town.people .. " people remain")
    end
end)

mica.observer("add", "Velocity", function(event)
    print(event.count .. " meteor in the sky")
end)
