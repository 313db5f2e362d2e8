KEY = "precast.model"
